/* SPDX-License-Identifier: MIT */
/* socket.h - the socket by which an agent is reached on its machine: in a
 * folder of its owner alone, and used by nobody else. */
#ifndef AGENT_SOCKET_H
#define AGENT_SOCKET_H

struct err;

/* Makes it in the folder, as SOCKET_NAME. */
#define SOCKET_NAME "socket"
int socket_listen(const char *folder, struct err *err);
/* Somebody of the same user who has connected; -1: nobody. */
int socket_accept(int fd);
/* To one of the same user. */
int socket_connect(const char *path, struct err *err);

#endif

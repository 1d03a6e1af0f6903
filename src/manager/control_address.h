/* SPDX-License-Identifier: MIT */
/* control_address.h - where the socket of an experiment is: its name in the
 * folder, however long the folder's own name is.  An address holds 108 bytes;
 * a longer path goes through the opened folder.  One thread. */
#ifndef MANAGER_CONTROL_ADDRESS_H
#define MANAGER_CONTROL_ADDRESS_H

#include <sys/socket.h>
#include <sys/un.h>

struct err;

#define FOLDER_CONTROL "control"

struct control_address {
    struct sockaddr_un un;
    int folder_fd; /* -1: the path is short enough */
};

/* To be closed once it was bound or connected to. */
int control_address_open(struct control_address *a, const char *folder,
                         struct err *err);
void control_address_close(struct control_address *a);

#endif

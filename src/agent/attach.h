/* SPDX-License-Identifier: MIT */
/* attach.h - from a manager to an agent that runs on this machine already. */
#ifndef AGENT_ATTACH_H
#define AGENT_ATTACH_H

struct err;

/* Passes on between standard input and output and the agent's socket, until
 * either ends.  -1: there is none, or it is somebody else's. */
int attach(const char *socket, struct err *err);

#endif

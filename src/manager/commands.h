/* SPDX-License-Identifier: MIT */
/* commands.h - what a running experiment can be asked and told through its
 * control socket (control/server.h).  A new command is a row of the table in
 * commands.c.  Inside src/manager only. */
#ifndef MANAGER_COMMANDS_H
#define MANAGER_COMMANDS_H

struct err;
struct manager;

/* Opens m->control.  Without the socket an experiment runs on, and says so; a
 * study, of which nobody could ask anything, does not begin: -1. */
int commands_open(struct manager *m, struct err *err);
void commands_serve(struct manager *m); /* somebody has come or asks */

#endif

/* SPDX-License-Identifier: MIT */
/* commands.h - what a running experiment can be asked and told through its
 * control socket (control/server.h).  A new command is a row of the table in
 * commands.c.  Inside src/manager only. */
#ifndef MANAGER_COMMANDS_H
#define MANAGER_COMMANDS_H

struct manager;

/* Opens m->control.  Without the socket an experiment runs on, and says so. */
void commands_open(struct manager *m);
void commands_serve(struct manager *m); /* somebody has come or asks */

#endif

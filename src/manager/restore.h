/* SPDX-License-Identifier: MIT */
/* restore.h - an experiment whose manager died goes on: what its folder and
 * the dispatcher's log tell, put into a new manager.  Inside src/manager
 * only. */
#ifndef MANAGER_RESTORE_H
#define MANAGER_RESTORE_H

struct err;
struct manager;

/* m->folder is open and nobody else's; starts the dispatcher, too. */
int restore(struct manager *m, struct err *err);

#endif

/* SPDX-License-Identifier: MIT */
/* indexing.h - the database of results that is kept up to date while the
 * experiment runs: a process of its own, which nothing waits for. */
#ifndef MANAGER_INDEXING_H
#define MANAGER_INDEXING_H

struct manager;

/* Once the dispatcher has its log.  Only if the configuration asks for it; that
 * it cannot be started is told, and costs nothing else.  It ends by itself
 * behind the manager. */
void indexing_start(struct manager *m);

#endif

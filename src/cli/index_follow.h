/* SPDX-License-Identifier: MIT */
/* index_follow.h - a database that is kept up to date while its experiment
 * runs. */
#ifndef CLI_INDEX_FOLLOW_H
#define CLI_INDEX_FOLLOW_H

struct err;
struct index;

/* Until the experiment's manager is gone.  It gives way to everybody else. */
int index_follow(struct index *ix, const char *folder, struct err *err);

#endif

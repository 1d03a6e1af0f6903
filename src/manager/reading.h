/* SPDX-License-Identifier: MIT */
/* reading.h - the files of running trials, read as they grow: metrics go on to
 * the dispatcher.  Inside src/manager only. */
#ifndef MANAGER_READING_H
#define MANAGER_READING_H

struct manager;
struct outcome;
struct trial;

void reading_begin(struct manager *m, struct trial *t);
void reading_end(struct manager *m, struct trial *t);

/* inotify has events. */
void reading_files(struct manager *m);

/* Goes on with files that were left alone. */
void reading_hungry(struct manager *m);

/* Reads a portion of what there is. */
void reading_feed(struct manager *m, struct trial *t);

/* Reads everything: the trial's processes are gone. */
void reading_drain(struct manager *m, struct trial *t);

/* A trial that ended well and named no final result has its last value, where
 * the configuration says so. */
void reading_promote(struct manager *m, struct trial *t,
                     const struct outcome *outcome);

#endif

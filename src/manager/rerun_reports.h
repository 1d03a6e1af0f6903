/* SPDX-License-Identifier: MIT */
/* rerun_reports.h - what a trial that is run again reports.  One thread. */
#ifndef MANAGER_RERUN_REPORTS_H
#define MANAGER_RERUN_REPORTS_H

#include "manager/metrics.h"

#include <stdbool.h>

struct rerun_outcome;
struct trial;

struct rerun_reports {
    const struct pattern *pattern; /* NULL: none */
    struct metrics metrics;
    struct rerun_outcome *out;
    int watch_fd; /* readable when there is more to look at; -1: not open */
};

/* Watches the trial's folder, whose files are there; where the system lets
 * nobody watch more, they are read at the end. */
void rerun_reports_open(struct rerun_reports *r, const char *folder);
void rerun_reports_close(struct rerun_reports *r); /* a closed one too */

/* Reads what has come.  True, once: the trial says that it is done. */
bool rerun_reports_look(struct rerun_reports *r, struct trial *t);

/* Behind the trial's end: all that is left. */
void rerun_reports_end(struct rerun_reports *r, struct trial *t,
                       bool last_is_final);

#endif

/* SPDX-License-Identifier: MIT */
/* progress.h - what people see while an experiment runs: on a terminal one line
 * of counts (the living line) that is painted anew after events, at most each
 * 100 ms; besides it, and elsewhere, a plain line for each event.  One thread.
 */
#ifndef MANAGER_PROGRESS_H
#define MANAGER_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct goals;

struct progress {
    int fd, err_fd; /* standard output and error */
    bool terminal;  /* there is a living line */
    bool painted;   /* the living line is on the terminal now */
    bool stale;     /* it is out of date */
    bool debug;
    bool paused;
    bool no_checkpoint_once; /* that a trial has none to go on from was said */
    bool early_checkpoint_once; /* that one was saved before its report, too */
    bool beyond_budget_once;    /* that a result is from beyond a budget, too */
    int64_t started_ns, painted_ns; /* monotonic */
    bool minimize;

    uint64_t max_trials; /* 0: no limit */
    uint64_t done, running, preparing, failed, stopped, timed_out, cancelled;
    uint64_t interrupted;      /* attempts, which no other number counts */
    uint64_t set_aside;        /* trials that are paused */
    uint64_t unread;           /* lines that found no room and are lost */
    const struct goals *goals; /* they know the front; NULL: results are one
                                  number */
    bool has_best;
    double best;
    double best_budget;  /* the budget of the best trial; 0: it had none */
    bool budgets_differ; /* results are known that had another */
    char best_trial[24];
};

void progress_open(struct progress *p, int fd, int err_fd, bool minimize,
                   uint64_t max_trials, bool debug);

/* Prints a line of its own; the living line makes room. */
void progress_say(struct progress *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints a line on standard error, of what went wrong. */
void progress_warn(struct progress *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Whether a person may be there who reads: one of the two streams is a
 * terminal.
 */
bool progress_is_seen(const struct progress *p);

/* Counts have changed: the living line is out of date. */
void progress_touch(struct progress *p);

/* Paints the living line when it is time; returns the monotonic time when to
 * call again, or INT64_MAX. */
int64_t progress_paint(struct progress *p, int64_t now_ns);

/* Takes the living line away, for good. */
void progress_close(struct progress *p);

#endif

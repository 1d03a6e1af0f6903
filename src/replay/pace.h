/* SPDX-License-Identifier: MIT */
/* pace.h - holds a walk over a log back until its records are due: as long
 * after the first one as they were recorded, or in an N-th of that time.  What
 * is answered never depends on it.  One thread. */
#ifndef REPLAY_PACE_H
#define REPLAY_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct err;

struct pace {
    double speed; /* 1: as recorded; 0: no waiting */
    int fd;       /* a timer; -1: none */
    bool begun;
    int64_t first_us, last_us; /* of the records */
    int64_t began_ns;          /* monotonic */
};

/* `speed` is above 0, or 0. */
int pace_open(struct pace *p, double speed, struct err *err);
void pace_close(struct pace *p);

/* "real", "max" or a number above 0; -1: err tells. */
int pace_parse(const char *word, double *speed, struct err *err);

/* How long after the first record one of this time is due; never earlier than
 * the one before it, whatever the recording machine's clock did.  */
int64_t pace_due_ns(struct pace *p, int64_t time_us);

/* Returns when a record of this time is due. */
int pace_wait(struct pace *p, int64_t time_us, struct err *err);

#endif

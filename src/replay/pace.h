/* SPDX-License-Identifier: MIT */
/* pace.h - slows a walk over a log down, so that each record comes as long
 * after the first one as it was recorded, or in an N-th of that time.  Answers
 * never depend on it.  One thread. */
#ifndef REPLAY_PACE_H
#define REPLAY_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct err;

struct pace {
    double speed; /* 1: as recorded; 0: no waiting */
    int fd;       /* a timer; -1: none */
    bool begun;
    int64_t first_us, last_us; /* times of the first and the last record */
    int64_t began_ns;          /* monotonic */
};

/* Begins at the given speed, above 0, or 0. */
int pace_open(struct pace *p, double speed, struct err *err);
void pace_close(struct pace *p);

/* Reads "real", "max" or a number above 0; -1: err tells. */
int pace_parse(const char *word, double *speed, struct err *err);

/* How long after the first record a record of this time is due; never earlier
 * than the record before it, whatever the recording machine's clock did. */
int64_t pace_due_ns(struct pace *p, int64_t time_us);

/* Waits until a record of this time is due. */
int pace_wait(struct pace *p, int64_t time_us, struct err *err);

#endif

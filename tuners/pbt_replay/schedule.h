/* SPDX-License-Identifier: MIT */
/* schedule.h - the text of a schedule: parameters, and from which result on.
 *
 *   0: lr=0.1 act=#2; 10: lr=0.12 act=#2; 25: lr=0.08 act=#0 act/slope=0.5
 *
 * A segment is `STEP:` and the parameters with which the line goes on once it
 * has reported so many intermediate results; `;` lies between two.  Steps begin
 * at 0 and never fall; a segment whose successor begins at the same step, or
 * that has none, ends when its trial does.  A parameter that is not named stays
 * as it is; at first, or where a choice has just made it active, it is a draw
 * of the prior.  A value is a number as the trial is given it, or, of a choice,
 * `#` and the index of the element.  In names all but letters, digits and _ . /
 * - is written %XX.
 *
 * Knows no plugin interface; any thread. */
#ifndef PBT_REPLAY_SCHEDULE_H
#define PBT_REPLAY_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCHEDULE_NAME_MAX 512 /* bytes, decoded, its NUL included */
#define SCHEDULE_WHY_MAX 200

struct schedule_pair {
    const char *name; /* decoded, in the schedule's memory */
    bool is_index;
    double value;
};

struct schedule_segment {
    uint64_t from;   /* intermediate results before it */
    uint64_t until;  /* ... and at its end; 0: when its trial ends */
    size_t first, n; /* pairs */
};

struct schedule {
    struct schedule_segment *segments;
    size_t n_segments; /* at least 1 */
    struct schedule_pair *pairs;
    size_t n_pairs;
    char *names;
};

/* 0, or -1: `why` has it in one line. */
int schedule_parse(struct schedule *s, const char *text,
                   char why[SCHEDULE_WHY_MAX]);
void schedule_free(struct schedule *s); /* what it holds */

#endif

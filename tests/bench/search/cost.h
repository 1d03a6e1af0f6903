/* SPDX-License-Identifier: MIT */
/* cost.h - for benchmarks: what asking and telling a tuner costs with so many
 * finished trials, in ten dimensions of all kinds, through the pipe.
 *
 * The finished trials are random points, nearly all of them imported.  What is
 * timed is what a manager does when a trial ends: it reports the result, asks
 * for the next trial and waits for that.  One thread. */
#ifndef BENCH_SEARCH_COST_H
#define BENCH_SEARCH_COST_H

#include <stdbool.h>
#include <stddef.h>

struct err;

#define COST_BATCH 64
#define COST_COUNT_MAX 1000 /* more trials take too long below callgrind */

/* Of one tuner with n finished trials; NaN: not measured. */
struct cost {
    double cycle_us;     /* tell and ask: median, by the clock */
    double cpu_us;       /* the same: CPU time, mean */
    double batch_us;     /* CPU time of each of COST_BATCH asked for at once */
    double tell_us;      /* CPU time of a result alone */
    double instructions; /* tell and ask */
    double resident;     /* bytes, after all that */
};

extern const struct cost cost_unknown; /* all NaN */

/* In a process of its own; `count`: instructions, too, with valgrind.  -1: err
 * says why; what is not known is NaN. */
int cost_measure(const char *program, const char *plugins, const char *tuner,
                 size_t n, bool count, struct cost *out, struct err *err);

#endif

/* SPDX-License-Identifier: MIT */
/* synth.h - for benchmarks: objectives like those of real tuning, of our own,
 * over search spaces of several kinds.
 *
 * Each is drawn from an instance number: a point of the space (on its grid)
 * becomes the optimum, of value 0, and a sum of terms that vanish there
 * becomes the objective: valleys across two parameters, penalties of options,
 * some of them for pairs of options.  Any thread. */
#ifndef BENCH_SEARCH_SYNTH_H
#define BENCH_SEARCH_SYNTH_H

#include <stddef.h>
#include <stdint.h>

struct dim;
struct point;
struct synth;

/* By index, until NULL. */
const char *synth_name(size_t index);
const char *synth_family(size_t index); /* "mixed", "nests" ... */

/* NULL: no such name, or out of memory.  The caller frees. */
struct synth *synth_new(const char *name, uint64_t instance);
void synth_free(struct synth *s);

/* Both are lent.  Of the optimum all dimensions are set. */
const struct dim *synth_dims(const struct synth *s);
const struct point *synth_optimal(const struct synth *s);

/* Of a point of the space: less is better, 0 is best. */
double synth_value(const struct synth *s, const struct point *p);

#endif

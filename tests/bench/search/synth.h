/* SPDX-License-Identifier: MIT */
/* synth.h - for benchmarks: objectives like those of real tuning, of our own,
 * over mixed and over conditional search spaces.
 *
 * Each is drawn from an instance number: a point of the space (on its grid)
 * becomes the optimum, of value 0, and a sum of terms that vanish there
 * becomes the objective: valleys across two parameters, penalties of options,
 * some of them for pairs of options.  Any thread. */
#ifndef BENCH_SEARCH_SYNTH_H
#define BENCH_SEARCH_SYNTH_H

#include "json.h"

#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct synth;

/* By index, until NULL. */
const char *synth_name(size_t index);
const char *synth_family(size_t index); /* "mixed" or "conditional" */

/* NULL: no such name, or out of memory.  The caller frees. */
struct synth *synth_new(const char *name, uint64_t instance);
void synth_free(struct synth *s);

/* Appends the search space as JSON. */
void synth_write_space(const struct synth *s, struct buf *out);

/* Less is better, 0 is best.  -1: `parameters` is no point of the space; err
 * says why. */
int synth_value(const struct synth *s, struct jval parameters, double *out,
                struct err *err);

/* Appends the optimum as a trial's parameters. */
void synth_write_optimum(const struct synth *s, struct buf *out);

#endif

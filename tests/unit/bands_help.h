/* SPDX-License-Identifier: MIT */
/* bands_help.h - brackets with trials that are run by hand or by a curve,
 * whose point is one number that tells how good it is. */
#ifndef TESTS_BANDS_HELP_H
#define TESTS_BANDS_HELP_H

#include "bands/bands.h"
#include "t.h"

#include <stdio.h>
#include <stdlib.h>

#define WORLD_MAX 4096

struct bands_trial {
    uint64_t id, n, budget, from;
    unsigned s, round;
    uint64_t hyperband;
    double x;
    bool has_ended, is_released;
};

struct bands_world {
    struct bands *b;
    struct bands_trial trials[WORLD_MAX];
    uint64_t n_trials; /* ids from 0 */
};

static inline void
bands_world_release(void *ctx, uint64_t id)
{
    struct bands_world *w = ctx;

    CHECK(id < w->n_trials);
    CHECK(!w->trials[id].is_released);
    w->trials[id].is_released = true;
}

static inline struct bands_world *
bands_world_new(uint64_t max, uint64_t eta, enum bands_order order,
                uint64_t limit)
{
    struct bands_world *w = calloc(1, sizeof *w);
    struct bands_options options = {
        .table = bands_table(1, max, eta),
        .order = order,
        .maximize = true,
        .limit = limit,
        .release = bands_world_release,
        .ctx = w,
    };

    w->b = bands_new(&options);
    CHECK_EQ(bands_space(w->b, 1), 0);
    return w;
}

static inline void
bands_world_free(struct bands_world *w)
{
    bands_free(w->b);
    free(w);
}

/* The next trial; what was answered. */
static inline int
bands_world_ask(struct bands_world *w)
{
    struct bands_trial *t = &w->trials[w->n_trials];
    struct bands_job job;
    int rc;

    CHECK(w->n_trials < WORLD_MAX);
    rc = bands_ask(w->b, w->n_trials, &job);
    if (rc != BANDS_JOB)
        return rc;
    if (job.slot->from == BANDS_NO_ID)
        *job.x = (double)job.slot->n;
    *t = (struct bands_trial){
        .id = w->n_trials++,
        .n = job.slot->n,
        .budget = job.budget,
        .from = job.slot->from,
        .s = job.bracket->s,
        .round = job.bracket->round,
        .hyperband = job.hyperband,
        .x = *job.x,
    };
    CHECK_EQ(job.slot->id, t->id);
    return rc;
}

/* As NNI writes it. */
static inline void
bands_world_label(const struct bands_world *w, uint64_t id, char out[96])
{
    const struct bands_trial *t = &w->trials[id];

    snprintf(out, 96, "%llu-%u_%u_%llu %llu", (unsigned long long)t->hyperband,
             t->s, t->round, (unsigned long long)t->n,
             (unsigned long long)t->budget);
}

static inline void
bands_world_metric(struct bands_world *w, uint64_t id, double value,
                   uint64_t step, bool is_used)
{
    CHECK(bands_metric(w->b, id, &w->trials[id].x, value, step) == is_used);
}

static inline void
bands_world_final(struct bands_world *w, uint64_t id, double value)
{
    bands_final(w->b, id, &w->trials[id].x, value);
}

static inline void
bands_world_end(struct bands_world *w, uint64_t id)
{
    CHECK(!w->trials[id].has_ended);
    w->trials[id].has_ended = true;
    CHECK_EQ(bands_ended(w->b, id, &w->trials[id].x), 0);
}

/* Reports one value at each step that it has not gone on from, ends. */
static inline void
bands_world_run(struct bands_world *w, uint64_t id,
                double (*curve)(double x, uint64_t step))
{
    struct bands_trial *t = &w->trials[id];
    uint64_t step = 0;

    if (t->from != BANDS_NO_ID)
        step = w->trials[t->from].budget;
    for (; step < t->budget; step++)
        bands_world_metric(w, id, curve(t->x, step), step,
                           step + 1 == t->budget);
    bands_world_end(w, id);
}

#endif

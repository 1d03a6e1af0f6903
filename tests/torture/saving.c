/* SPDX-License-Identifier: MIT */
/* Saving what the plugins of the tree know, and loading it again. */
#include "torture.h"

#include "batch/batch.h"
#include "core/err.h"
#include "core/pack.h"
#include "filters/dedup/tally.h"
#include "grid/grid.h"
#include "keyset/saved.h"
#include "medianstop/medianstop.h"
#include "plugin/state.h"

#include <string.h>

/* What the algorithms say of a failure, as an error. */
static int
because(const char *why, struct err *err)
{
    return why == NULL ? 0 : err_set(err, ERR_MEMORY, "%s", why);
}

static int
no_memory(struct err *err)
{
    return err_set(err, ERR_MEMORY, "out of memory");
}

/* Both were saved: the same bytes. */
static int
compare(struct buf *a, struct buf *b, struct err *err)
{
    if (buf_check(a, "a state", err) != 0 || buf_check(b, "a state", err) != 0)
        return -1;
    if (a->len == b->len && memcmp(a->data, b->data, a->len) == 0)
        return 0;
    return err_set(err, ERR_INPUT, "it was loaded as something else");
}

/* ---- the points that were seen, and how often ---- */

static int
fill_seen(struct keyset *s, struct tally *t, struct err *err)
{
    for (uint64_t i = 1; i < 100; i++) {
        const uint64_t key[2] = {i * 64, i * 7};
        uint64_t *count_1;

        if (keyset_add(s, key, NULL) < 0 ||
            (count_1 = tally_count(t, key)) == NULL)
            return no_memory(err);
        *count_1 += i % 3;
    }
    return 0;
}

static int
load_seen(const struct buf *state, struct buf *again, struct err *err)
{
    struct unpack u = unpack_from(state->data, state->len);
    const struct tp_source source = state_source(&u);
    const struct tp_sink sink = state_sink(again);
    struct keyset s = {.n = 0};
    struct tally t = {.room = 0};
    int rc = because(keyset_load(&s, &source), err);

    if (rc == 0)
        rc = because(tally_load(&t, &source), err);
    if (rc == 0) {
        keyset_save(&s, &sink);
        tally_save(&t, &sink);
    }
    keyset_fini(&s);
    tally_fini(&t);
    return rc;
}

static int
tables(struct err *err)
{
    struct keyset s = {.n = 0};
    struct tally t = {.room = 0};
    struct buf state, again;
    const struct tp_sink sink = state_sink(&state);
    int rc;

    buf_init(&state, 1 << 20);
    buf_init(&again, 1 << 20);
    rc = fill_seen(&s, &t, err);
    keyset_save(&s, &sink);
    tally_save(&t, &sink);
    if (rc == 0)
        rc = buf_check(&state, "a state", err);
    if (rc == 0)
        rc = load_seen(&state, &again, err);
    if (rc == 0)
        rc = compare(&state, &again, err);
    keyset_fini(&s);
    tally_fini(&t);
    buf_fini(&state);
    buf_fini(&again);
    return rc;
}

/* ---- the grid ---- */

static double
value(void *ctx, size_t i, double x)
{
    (void)ctx;
    (void)i;
    return x;
}

static struct grid *
new_grid(void)
{
    static const struct grid_dim dims[] = {
        {.n_choices = 2, .parent = GRID_NO_PARENT},
        {.low = 0, .high = 1, .parent = GRID_NO_PARENT},
        {.is_normal = 1, .mu = 2, .sigma = 3, .parent = GRID_NO_PARENT},
    };

    return grid_new(dims, sizeof dims / sizeof *dims, value, NULL);
}

static int
walk(struct grid *g, struct buf *state, struct err *err)
{
    const struct tp_sink sink = state_sink(state);
    double x[3];

    if (g == NULL)
        return no_memory(err);
    for (int i = 0; i < 60; i++)
        if (grid_next(g, x) == GRID_MEMORY)
            return no_memory(err);
    grid_save(g, &sink);
    return buf_check(state, "a state", err);
}

static int
load_grid(const struct buf *state, struct buf *again, struct err *err)
{
    struct unpack u = unpack_from(state->data, state->len);
    const struct tp_source source = state_source(&u);
    const struct tp_sink sink = state_sink(again);
    struct grid *g = new_grid();
    int rc = g == NULL ? no_memory(err) : because(grid_load(g, &source), err);

    if (rc == 0)
        grid_save(g, &sink);
    grid_free(g);
    return rc;
}

static int
grid(struct err *err)
{
    struct grid *g = new_grid();
    struct buf state, again;
    int rc;

    buf_init(&state, 1 << 20);
    buf_init(&again, 1 << 20);
    rc = walk(g, &state, err);
    if (rc == 0)
        rc = load_grid(&state, &again, err);
    if (rc == 0)
        rc = compare(&state, &again, err);
    grid_free(g);
    buf_fini(&state);
    buf_fini(&again);
    return rc;
}

/* ---- the medians ---- */

static int
judge(struct medianstop *m, struct medianstop_trial **living, struct err *err)
{
    const double values[] = {3, 1, 4, 1, 5, 9, 2, 6};
    struct medianstop_verdict v;

    for (size_t i = 0; i < 5; i++) {
        struct medianstop_trial *trial = NULL;

        if (medianstop_assess(m, &trial, values, 8 - i, &v) != 0 ||
            medianstop_ended(m, &trial, values, true) != 0)
            return no_memory(err);
    }
    if (medianstop_assess(m, living, values, 4, &v) != 0)
        return no_memory(err);
    return 0;
}

static int
load_medians(const struct buf *state, struct buf *again, struct err *err)
{
    struct unpack u = unpack_from(state->data, state->len);
    const struct tp_source source = state_source(&u);
    const struct tp_sink sink = state_sink(again);
    struct medianstop *m = medianstop_new(true, 0);
    struct medianstop_trial *trial = NULL;
    int rc =
        m == NULL ? no_memory(err) : because(medianstop_load(m, &source), err);

    if (rc == 0)
        rc = because(medianstop_load_trial(m, 4, &trial, &source), err);
    if (rc == 0) {
        medianstop_save(m, &sink);
        medianstop_save_trial(trial, &sink);
    }
    medianstop_free(m);
    return rc;
}

static int
medians(struct err *err)
{
    struct medianstop *m = medianstop_new(true, 0);
    struct medianstop_trial *trial = NULL;
    struct buf state, again;
    const struct tp_sink sink = state_sink(&state);
    int rc;

    buf_init(&state, 1 << 20);
    buf_init(&again, 1 << 20);
    rc = m == NULL ? no_memory(err) : judge(m, &trial, err);
    if (rc == 0) {
        medianstop_save(m, &sink);
        medianstop_save_trial(trial, &sink);
        rc = buf_check(&state, "a state", err);
    }
    if (rc == 0)
        rc = load_medians(&state, &again, err);
    if (rc == 0)
        rc = compare(&state, &again, err);
    medianstop_free(m);
    buf_fini(&state);
    buf_fini(&again);
    return rc;
}

/* ---- the list ---- */

static int
batch(struct err *err)
{
    static const struct batch_key keys[] = {{{1, 2}}, {{3, 4}}, {{1, 2}}};
    struct batch *b = batch_new();
    size_t n = 0;
    int rc = 0;

    if (b == NULL || batch_list(b, keys, 3) != 0 ||
        batch_take_done(b, keys[0]) != 0)
        rc = no_memory(err);
    else if (batch_done(b, &n) == NULL || n != 1)
        rc = err_set(err, ERR_INPUT, "what is done was forgotten");
    batch_free(b);
    return rc;
}

const struct torture_case torture_saving[] = {
    {"saving_tables", tables, 0},
    {"saving_grid", grid, 0},
    {"saving_medians", medians, 0},
    {"saving_batch", batch, 0},
    {NULL, NULL, 0},
};

/* SPDX-License-Identifier: MIT */
#include "check/assessor_orders.h"

#include "check/calls.h"
#include "core/buf.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A digit chooses the trial, then
 *
 *   r  it reports a value       g  two at once (a gap was closed)
 *   n  it reports NaN           i  it reports infinity
 *   e  it succeeds, f: fails, s: was stopped, c: was cancelled */
static const char *const orders[] = {
    "",
    "0r",
    "0re",
    "0rrrr",
    "0rf1rs2rc3re",
    "0rrrrre1rrrrre2rrrrre3rrrrre",
    "0r1r2r0r1r2r0r1r2r0e1f2s3rrr4rrr",
    "0grge1gggf2ggge3ggg",
    "0nrre1rnre2inrre3rrrn4nnnn",
    "0rrrrrrrrrrrrrrrrrrrrrrrre1rrrrrrrrrrrrrrrrrrrrrrrrrrrre2rrrrrrrrrrrrrrr",
};

#define N_ORDERS (sizeof orders / sizeof *orders)

#define TRIALS 10
#define STEPS 64

struct trial {
    double values[STEPS];
    size_t n;
    void *slot;
    bool assessed, over, stopped;
};

struct run {
    struct calls c;
    struct trial trials[TRIALS];
};

static struct tp_history
history_of(struct run *r, size_t id)
{
    struct trial *t = &r->trials[id];

    return (struct tp_history){
        .trial = id,
        .values = t->values,
        .n = t->n,
        .slot = &t->slot,
    };
}

static void
report(struct run *r, size_t id, double value, size_t n_new)
{
    struct trial *t = &r->trials[id];
    struct tp_history h;

    if (t->over || t->n + n_new > STEPS)
        return;
    for (size_t i = 0; i < n_new; i++)
        t->values[t->n++] = value;
    if (t->stopped)
        return;
    h = history_of(r, id);
    t->stopped = calls_assess(&r->c, &h) == TP_STOP;
    t->assessed = true;
}

static void
end(struct run *r, size_t id, int how)
{
    struct trial *t = &r->trials[id];
    struct tp_history h = history_of(r, id);

    if (t->over || !t->assessed)
        return;
    calls_trial_ended(&r->c, &h, how);
    t->over = true;
}

static void
step(struct run *r, size_t id, char letter)
{
    static const char ends[] = "efsc"; /* as enum tp_trial_end, from 1 */
    double value = (double)((id + 3) * (r->trials[id].n + 7) * 31 % 17);
    const char *how = strchr(ends, letter);

    if (letter == 'n')
        value = NAN;
    else if (letter == 'i')
        value = INFINITY;
    if (how != NULL)
        end(r, id, (int)(how - ends) + TP_TRIAL_SUCCEEDED);
    else
        report(r, id, value, letter == 'g' ? 2 : 1);
}

static void
rest(struct run *r)
{
    const struct tp_history *living[TRIALS];
    struct tp_history histories[TRIALS];
    size_t n = 0;

    for (size_t id = 0; id < TRIALS; id++) {
        if (!r->trials[id].assessed || r->trials[id].over)
            continue;
        histories[n] = history_of(r, id);
        living[n] = &histories[n];
        n++;
    }
    calls_rest(&r->c, living, n);
}

int
assessor_order(const struct calls_setup *setup, const char *order,
               struct err *err)
{
    struct run *r = calloc(1, sizeof *r);
    size_t id = 0;
    int rc;

    if (r == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    if (setup->answers != NULL)
        buf_printf(setup->answers, "# order \"%s\"\n", order);
    calls_open(&r->c, setup);
    for (const char *at = order; *at != '\0' && !r->c.broken; at++) {
        snprintf(r->c.place, sizeof r->c.place, "order \"%s\" at \"%s\"", order,
                 at);
        if (*at >= '0' && *at <= '9')
            id = (size_t)(*at - '0');
        else
            step(r, id, *at);
        rest(r);
    }
    rc = calls_close(&r->c, err);
    free(r);
    return rc;
}

int
assessor_orders(const struct calls_setup *setup, struct err *err)
{
    for (size_t i = 0; i < N_ORDERS; i++)
        if (assessor_order(setup, orders[i], err) != 0)
            return -1;
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* Runs every assessor in the build folder through every order of calls that
 * tunepipe/assessor.h allows, twice, and compares the verdicts.
 *
 * An order is a text; a digit chooses the trial, then
 *
 *   r  it reports a value       g  two at once (a gap was closed)
 *   n  it reports NaN           i  it reports infinity
 *   e  it succeeds, f: fails, s: was stopped, c: was cancelled */
#include "plugin/loader.h"

#include "core/buf.h"
#include "plugin/arguments.h"
#include "plugin/paths.h"
#include "t.h"
#include "unit/fake_host.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

#define TRIALS 10
#define STEPS 64

struct trial {
    double values[STEPS];
    size_t n;
    void *slot;
    bool assessed, over, stopped;
};

struct run {
    const struct plugin *plugin;
    struct fake_host *host;
    void *self;
    struct trial trials[TRIALS];
    struct buf answers;
};

/* The history as lent for one call; to be freed. */
static double *
lend(struct run *r, size_t id, struct tp_history *h)
{
    struct trial *t = &r->trials[id];
    double *values = malloc(t->n * sizeof *values);

    memcpy(values, t->values, t->n * sizeof *values);
    *h = (struct tp_history){
        ._struct_size = sizeof *h,
        .trial = id,
        .values = values,
        .n = t->n,
        .slot = &t->slot,
    };
    return values;
}

static void
report(struct run *r, size_t id, double value, size_t n_new)
{
    struct trial *t = &r->trials[id];
    struct tp_verdict v = {sizeof v, TP_GO, NAN, NAN, NULL};
    struct tp_history h;
    double *lent;
    int rc;

    if (t->over)
        return;
    CHECK(t->n + n_new <= STEPS);
    for (size_t i = 0; i < n_new; i++)
        t->values[t->n++] = value;
    if (t->stopped)
        return;
    lent = lend(r, id, &h);
    rc = r->plugin->assessor.assess(r->self, &h, &v);
    free(lent);
    CHECK_STR(fake_host_error(r->host), "");
    CHECK_EQ(rc, TP_OK);
    CHECK(v.decision == TP_GO || v.decision == TP_STOP);
    t->stopped = v.decision == TP_STOP;
    t->assessed = true;
    buf_printf(&r->answers, "%zu %zu: %d %a %a %s\n", id, t->n, v.decision,
               v.value, v.threshold, v.rule != NULL ? v.rule : "");
}

static void
end(struct run *r, size_t id, int how)
{
    struct trial *t = &r->trials[id];
    struct tp_history h;
    double *lent;

    if (t->over || !t->assessed)
        return;
    lent = lend(r, id, &h);
    CHECK_EQ(r->plugin->assessor.ended(r->self, &h, how), TP_OK);
    free(lent);
    t->over = true;
}

static void
step(struct run *r, size_t id, char letter)
{
    double value = (double)((id + 3) * (r->trials[id].n + 7) * 31 % 17);

    switch (letter) {
    case 'r':
        report(r, id, value, 1);
        return;
    case 'g':
        report(r, id, value, 2);
        return;
    case 'n':
        report(r, id, NAN, 1);
        return;
    case 'i':
        report(r, id, INFINITY, 1);
        return;
    case 'e':
        end(r, id, TP_TRIAL_SUCCEEDED);
        return;
    case 'f':
        end(r, id, TP_TRIAL_FAILED);
        return;
    case 's':
        end(r, id, TP_TRIAL_STOPPED);
        return;
    case 'c':
        end(r, id, TP_TRIAL_CANCELLED);
        return;
    }
    CHECK(!"a known letter");
}

static void
run_order(const struct plugin *p, const char *order, struct buf *out)
{
    struct run *r = calloc(1, sizeof *r);
    struct arguments *args = fake_arguments(p);
    struct tp_value *lent = malloc(p->n_args * sizeof *lent + 1);
    size_t id = 0;

    r->plugin = p;
    r->host = fake_host_new(42);
    buf_init(&r->answers, 1 << 20);
    r->self = p->assessor.create(fake_host_services(r->host));
    CHECK(r->self != NULL);
    if (p->n_args > 0)
        memcpy(lent, arguments_values(args), p->n_args * sizeof *lent);
    CHECK_EQ(p->assessor.config(r->self, lent, p->n_args), TP_OK);
    free(lent);
    for (const char *c = order; *c != '\0'; c++)
        if (*c >= '0' && *c <= '9')
            id = (size_t)(*c - '0');
        else
            step(r, id, *c);
    p->assessor.destroy(r->self);
    buf_add(out, r->answers.data, r->answers.len);
    buf_fini(&r->answers);
    arguments_free(args);
    fake_host_free(r->host);
    free(r);
}

static void
run_orders(const struct plugin *p)
{
    struct fake_host *host = fake_host_new(1);

    p->assessor.destroy(p->assessor.create(fake_host_services(host)));
    fake_host_free(host);
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct buf first, second;

        buf_init(&first, 1 << 20);
        buf_init(&second, 1 << 20);
        run_order(p, orders[i], &first);
        run_order(p, orders[i], &second);
        CHECK_STR(buf_text(&second), buf_text(&first));
        buf_fini(&first);
        buf_fini(&second);
    }
}

TEST(conformance_assessors_in_every_order)
{
    struct plugin_paths *paths = plugin_paths_new(t_build("plugins"), NULL);
    struct plugin_list list;
    size_t n_assessors = 0;

    CHECK(plugin_paths_list(paths, &list, NULL) == 0);
    for (size_t i = 0; i < list.n; i++) {
        struct plugin *p =
            plugin_load_file(list.files[i], PLUGIN_ASSESSOR, NULL);

        if (p == NULL)
            continue;
        run_orders(p);
        plugin_unload(p);
        n_assessors++;
    }
    CHECK(n_assessors > 0);
    plugin_list_free(&list);
    plugin_paths_free(paths);
}

/* SPDX-License-Identifier: MIT */
#include "unit/tuner_orders.h"

#include "core/buf.h"
#include "core/err.h"
#include "plugin/arguments.h"
#include "plugin/loader.h"
#include "space/space.h"
#include "t.h"
#include "unit/fake_host.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One letter a call:
 *
 *   s  space          t  the other space, after the pending points have ended
 *                        as outdated
 *   a  ask, with the next id
 *   F  tell the oldest untold point its result; N: NaN, I: infinity
 *   P  tell it a censored value, as stopped
 *   e  ended, succeeded, for the oldest unended one; x: failed, p: stopped,
 *      c: cancelled
 *   i  tell an imported point, C: one of a trial the user added
 *   d  forget the oldest point: it never ran and nothing more is heard */
#define FIVE "FeaFeaFeaFeaFea"

static const char *const orders[] = {
    "", /* destroyed right after config */
    "s",
    "ss",
    "sa",
    "saFe",
    "saeF", /* the result comes after the end */
    "saaaa",
    "saaaaFFFFeeee",
    "saaaaxxxx",
    "saPpaPpaFe", /* stopped early, with a censored value */
    "saaaappcc",  /* ended without a result */
    "saaaddFe",   /* never run */
    "siiiaFeCaFe",
    "saNeaIeaFe",
    "saaatst",
    "saFeatFaFet",
    "sa" FIVE FIVE FIVE FIVE FIVE,
    "saaaaaFeaFeaxaPpaFeaNeaFeaFeaFeaxaFeaFeaPpaFeaFeaFeaxaFeaFeaFeaFe",
};

struct point {
    uint64_t id;
    double *x;
    bool told, ended;
};

#define POINTS_MAX 128

struct run {
    const struct plugin *plugin;
    const char *order, *at;
    struct fake_host *host;
    struct arguments *args;
    const struct space *spaces[2];
    size_t which; /* of spaces; the current one */
    struct tp_space *lent;
    void *self;
    uint64_t next_id;
    struct point points[POINTS_MAX];
    size_t n_points;
    struct buf answers; /* what is compared */
    bool over;          /* the space is none for this tuner */
};

static void
expect(struct run *r, bool ok, const char *what)
{
    if (ok)
        return;
    printf("# %s, order \"%s\" at \"%s\": %s\n", r->plugin->name, r->order,
           r->at, what);
    CHECK(!"conforms");
}

/* A callback has returned rc, which is TP_OK or, with its reason, TP_ERR. */
static void
returned(struct run *r, int rc, const char *callback)
{
    const char *said = fake_host_error(r->host);

    if (rc == TP_OK)
        return;
    printf("# %s returned %d: %s\n", callback, rc, said);
    expect(r, false, callback);
}

static void
forget(struct run *r, size_t i)
{
    free(r->points[i].x);
    r->n_points--;
    memmove(&r->points[i], &r->points[i + 1],
            (r->n_points - i) * sizeof r->points[0]);
}

static size_t
n_dims(const struct run *r)
{
    return space_dims(r->spaces[r->which])->n_dims;
}

/* Exactly n_dims long, so that a sanitizer sees its end. */
static double *
new_point(const struct run *r)
{
    double *x = malloc(n_dims(r) * sizeof *x + (n_dims(r) == 0));

    for (size_t i = 0; i < n_dims(r); i++)
        x[i] = NAN;
    return x;
}

static double *
copy_point(const struct run *r, const double *x)
{
    double *copy = new_point(r);

    memcpy(copy, x, n_dims(r) * sizeof *x);
    return copy;
}

static void
end_point(struct run *r, size_t i, int how)
{
    struct point *p = &r->points[i];
    double *lent = copy_point(r, p->x);

    returned(r, r->plugin->tuner.ended(r->self, p->id, lent, how), "ended");
    free(lent);
    p->ended = true;
    if (p->told)
        forget(r, i);
}

/* Every pending point ends as outdated. */
static void
end_all(struct run *r)
{
    while (r->n_points > 0) {
        if (!r->points[0].ended) {
            r->points[0].told = true; /* nothing is told of it any more */
            end_point(r, 0, TP_ENDED_OUTDATED);
        } else {
            forget(r, 0);
        }
    }
}

static int
give_space(struct run *r, size_t which)
{
    struct tp_space *before = r->lent;
    int rc;

    r->which = which;
    r->lent = fake_host_space(r->host, r->spaces[which]);
    rc = r->plugin->tuner.space(r->self, r->lent);
    fake_space_free(before);
    buf_printf(&r->answers, "space %d\n", rc);
    expect(r, rc == TP_OK || rc == TP_ERR, "space: neither TP_OK nor TP_ERR");
    expect(r, (rc == TP_ERR) == (fake_host_error(r->host)[0] != '\0'),
           "space: failed silently, or spoke of an error and succeeded");
    return rc;
}

/* A space that is refused is followed by the one before it. */
static void
set_space(struct run *r, size_t which)
{
    bool had_one = r->lent != NULL;
    size_t before = r->which;

    end_all(r);
    if (give_space(r, which) == TP_OK)
        return;
    if (!had_one)
        r->over = true;
    else
        expect(r, give_space(r, before) == TP_OK, "refuses what it had");
}

/* The point is a valid one, and NaN exactly where it is inactive. */
static void
check_point(struct run *r, const double *x)
{
    const struct space *s = r->spaces[r->which];
    struct err err = {0};

    if (space_check(s, x, &err) != 0) {
        printf("# %s\n", err.text);
        expect(r, false, "ask gave a bad point");
    }
    for (size_t i = 0; i < n_dims(r); i++)
        expect(r, space_is_active(s, x, i) || isnan(x[i]),
               "an inactive dimension is not NaN");
}

static void
ask(struct run *r)
{
    double *x = new_point(r);
    struct tp_suggestion out = {._struct_size = sizeof out, .x = x};
    int rc = r->plugin->tuner.ask(r->self, r->next_id, &out);

    buf_printf(&r->answers, "ask %" PRIu64 " %d %s\n", r->next_id, rc,
               rc == TP_OK && out.label != NULL ? out.label : "");
    if (rc == TP_ERR)
        returned(r, rc, "ask");
    expect(r, rc >= TP_OK && rc <= TP_DONE, "ask returned an unknown code");
    if (rc == TP_OK) {
        expect(r, out.x == x, "ask replaced out->x");
        check_point(r, x);
        buf_add(&r->answers, x, n_dims(r) * sizeof *x);
        expect(r, r->n_points < POINTS_MAX, "too many points");
        r->points[r->n_points++] = (struct point){r->next_id, x, false, false};
    } else {
        free(x);
    }
    if (rc != TP_LATER) /* then the same id is asked for again */
        r->next_id++;
}

static void
tell_plugin(struct run *r, uint64_t id, const double *x, int how, double value)
{
    struct tp_result result = {sizeof result, how, value,
                               how == TP_RESULT_STOPPED ? 4 : 0};
    double *lent = copy_point(r, x);

    returned(r, r->plugin->tuner.tell(r->self, id, lent, &result), "tell");
    expect(r, memcmp(lent, x, n_dims(r) * sizeof *x) == 0, "tell changed x");
    free(lent);
}

static void
tell_oldest(struct run *r, int how, double value)
{
    for (size_t i = 0; i < r->n_points; i++)
        if (!r->points[i].told) {
            tell_plugin(r, r->points[i].id, r->points[i].x, how, value);
            r->points[i].told = true;
            if (r->points[i].ended)
                forget(r, i);
            return;
        }
}

static void
end_oldest(struct run *r, int how)
{
    for (size_t i = 0; i < r->n_points; i++)
        if (!r->points[i].ended) {
            end_point(r, i, how);
            return;
        }
}

static void
tell_foreign(struct run *r, int how)
{
    double *x = new_point(r);

    space_sample(r->spaces[r->which], 4711, r->next_id, x);
    tell_plugin(r, TP_NO_ID, x, how, 0.5);
    free(x);
}

static void
step(struct run *r, char letter)
{
    double value = (double)(r->next_id * 7919 % 101) / 10;

    switch (letter) {
    case 's':
        set_space(r, r->which);
        return;
    case 't':
        set_space(r, !r->which);
        return;
    case 'a':
        ask(r);
        return;
    case 'F':
        tell_oldest(r, TP_RESULT_FINAL, value);
        return;
    case 'N':
        tell_oldest(r, TP_RESULT_FINAL, NAN);
        return;
    case 'I':
        tell_oldest(r, TP_RESULT_FINAL, INFINITY);
        return;
    case 'P':
        tell_oldest(r, TP_RESULT_STOPPED, value);
        return;
    case 'e':
        end_oldest(r, TP_ENDED_SUCCEEDED);
        return;
    case 'x':
        end_oldest(r, TP_ENDED_FAILED);
        return;
    case 'p':
        end_oldest(r, TP_ENDED_STOPPED);
        return;
    case 'c':
        end_oldest(r, TP_ENDED_CANCELLED);
        return;
    case 'i':
        tell_foreign(r, TP_RESULT_IMPORTED);
        return;
    case 'C':
        tell_foreign(r, TP_RESULT_CUSTOM);
        return;
    case 'd':
        if (r->n_points > 0)
            forget(r, 0);
        return;
    }
    expect(r, false, "no such letter");
}

static void
configure(struct run *r)
{
    size_t n = r->plugin->n_args;
    struct tp_value *lent = malloc(n * sizeof *lent + 1);

    if (n > 0)
        memcpy(lent, arguments_values(r->args), n * sizeof *lent);
    returned(r, r->plugin->tuner.config(r->self, lent, n), "config");
    free(lent);
}

/* Appends the answers to out. */
static void
run_order(const struct plugin *p, const char *order, const struct space *a,
          const struct space *b, struct buf *out)
{
    struct run r = {.plugin = p, .order = order, .at = order};

    r.spaces[0] = a;
    r.spaces[1] = b;
    r.host = fake_host_new(42);
    r.args = fake_arguments(p);
    buf_init(&r.answers, 64 << 20);
    r.self = p->tuner.create(fake_host_services(r.host));
    expect(&r, r.self != NULL, "create failed");
    configure(&r);
    for (; *r.at != '\0' && !r.over; r.at++)
        step(&r, *r.at);
    p->tuner.destroy(r.self);
    fake_space_free(r.lent);
    while (r.n_points > 0)
        forget(&r, 0);
    buf_add(out, r.answers.data, r.answers.len);
    buf_fini(&r.answers);
    arguments_free(r.args);
    fake_host_free(r.host);
}

static void
run_twice(const struct plugin *p, const char *order, const struct space *a,
          const struct space *b)
{
    struct buf first, second;

    buf_init(&first, 64 << 20);
    buf_init(&second, 64 << 20);
    run_order(p, order, a, b, &first);
    run_order(p, order, a, b, &second);
    if (first.len != second.len ||
        (first.len > 0 && memcmp(first.data, second.data, first.len) != 0)) {
        printf("# %s, order \"%s\": other answers the second time\n", p->name,
               order);
        CHECK(!"repeatable");
    }
    buf_fini(&first);
    buf_fini(&second);
}

void
tuner_orders(const struct plugin *p, const struct space *a,
             const struct space *b)
{
    struct fake_host *host = fake_host_new(1);

    p->tuner.destroy(p->tuner.create(fake_host_services(host)));
    fake_host_free(host);
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        run_twice(p, orders[i], a, b);
}

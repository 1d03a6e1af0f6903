/* SPDX-License-Identifier: MIT */
#include "check/tuner_orders.h"

#include "check/calls.h"
#include "check/spaces.h"
#include "core/buf.h"
#include "plugin/loader.h"
#include "space/space.h"

#include <math.h>
#include <stdbool.h>
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
 *   m  an intermediate result of the oldest unended point, its next step;
 *      M: of the newest one; n: one that is no number; g: two steps on
 *   r  its next attempt begins
 *   b  the oldest unended point goes on where four steps had been reported
 *   u  ended, paused, for the oldest unended one
 *   l  twelve trials are planned; L: there is no limit
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
    "slaFelaLaFeFe",
    "saFeatFaFet",
    "sa" FIVE FIVE FIVE FIVE FIVE,
    "slaaaaaFeaFeaxaPpaFeaNeaFeaFeaFeaxaFeaFeaPpaFeaFeaFeaxaFeaFeaFeaFe",
};

#define N_ORDERS (sizeof orders / sizeof *orders)

/* Of tuners that have a metric alone. */
#define PAUSED "amu"
#define TEN_PAUSED \
    PAUSED PAUSED PAUSED PAUSED PAUSED PAUSED PAUSED PAUSED PAUSED PAUSED
#define ROUND "aaaaammmmmMMMMMuuuuu"

static const char *const advisor_orders[] = {
    "sam",
    "sammmFe",
    "samFme", /* behind its result, before its end */
    "samFeaFe",
    "same", /* no result but the intermediate ones */
    "sameF",
    "saFe", /* none of these */
    "sanmgmFe",
    "sammrmmmFe",
    "samrFe",
    "sabmmu",
    "samuamuamuamuau",
    "saaamMmMmMnFeuex",
    "saaammmmpxcaaam",
    "saaamddMmmFe",
    "saaamMMtsaamuam",
    "samuatamus",
    "siamCmFe",
    "s" TEN_PAUSED,
    "s" ROUND ROUND ROUND,
    ("saaaaaaaaaaaaaaaaaaaaaaaaaaaaaxmupmucmFemunueFemuxmuammumgu"
     "aaaaammuammumFeaammummuammgummuam"),
};

#define N_ADVISOR_ORDERS (sizeof advisor_orders / sizeof *advisor_orders)

struct point {
    uint64_t id;
    double *x;
    bool told, ended;
    uint64_t step, attempt; /* of its next intermediate result */
};

#define POINTS_MAX 128

struct run {
    struct calls c;
    const struct space *spaces[2];
    size_t which; /* of spaces; the current one */
    uint64_t next_id;
    struct point points[POINTS_MAX];
    size_t n_points;
    bool over; /* the space is none for this tuner */
};

static void
forget(struct run *r, size_t i)
{
    free(r->points[i].x);
    r->n_points--;
    for (; i < r->n_points; i++)
        r->points[i] = r->points[i + 1];
}

static void
end_point(struct run *r, size_t i, int how)
{
    struct point *p = &r->points[i];

    calls_ended(&r->c, p->id, p->x, how);
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

/* A space that is refused is followed by the one before it. */
static void
set_space(struct run *r, size_t which)
{
    const struct space *before = r->c.space;

    end_all(r);
    if (calls_space(&r->c, r->spaces[which]) == TP_OK) {
        r->which = which;
        return;
    }
    if (before == NULL)
        r->over = true;
    else if (calls_space(&r->c, before) != TP_OK)
        calls_fail(&r->c, "space refused the space that it had taken before");
}

static void
ask(struct run *r)
{
    double *x;
    int rc = calls_ask(&r->c, r->next_id, &x);

    if (rc == TP_OK)
        r->points[r->n_points++] = (struct point){.id = r->next_id, .x = x};
    if (rc != TP_LATER) /* then the same id is asked for again */
        r->next_id++;
}

static void
tell_oldest(struct run *r, int how, double value)
{
    for (size_t i = 0; i < r->n_points; i++)
        if (!r->points[i].told) {
            calls_tell(&r->c, r->points[i].id, r->points[i].x, how, value);
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

/* NULL: all have ended. */
static struct point *
unended(struct run *r, bool newest)
{
    struct point *found = NULL;

    for (size_t i = 0; i < r->n_points && (newest || found == NULL); i++)
        if (!r->points[i].ended)
            found = &r->points[i];
    return found;
}

static void
report(struct run *r, struct point *p, double value)
{
    struct tp_metric metric = {._struct_size = sizeof metric, .value = value};

    if (p == NULL || r->c.setup->plugin->tuner.metric == NULL)
        return;
    metric.step = p->step++;
    metric.attempt = p->attempt;
    calls_metric(&r->c, p->id, p->x, &metric);
}

static void
restart(struct point *p)
{
    if (p == NULL)
        return;
    p->attempt++;
    p->step = 0;
}

static void
skip(struct point *p, uint64_t steps)
{
    if (p != NULL)
        p->step += steps;
}

/* What the letters of an order do. */
enum action {
    SPACE,
    ASK,
    TELL,
    END,
    PLAN,
    FOREIGN,
    FORGET,
    REPORT_OLDEST,
    REPORT_NEWEST,
    SKIP,
    RESTART
};

static const struct {
    char letter;
    enum action action;
    int how;
} letters[] = {
    {'s', SPACE, 0},
    {'t', SPACE, 1},
    {'a', ASK, 0},
    {'F', TELL, TP_RESULT_FINAL},
    {'N', TELL, TP_RESULT_FINAL},
    {'I', TELL, TP_RESULT_FINAL},
    {'P', TELL, TP_RESULT_STOPPED},
    {'e', END, TP_ENDED_SUCCEEDED},
    {'x', END, TP_ENDED_FAILED},
    {'p', END, TP_ENDED_STOPPED},
    {'c', END, TP_ENDED_CANCELLED},
    {'l', PLAN, 12},
    {'L', PLAN, 0},
    {'i', FOREIGN, TP_RESULT_IMPORTED},
    {'C', FOREIGN, TP_RESULT_CUSTOM},
    {'d', FORGET, 0},
    {'m', REPORT_OLDEST, 0},
    {'M', REPORT_NEWEST, 0},
    {'n', REPORT_OLDEST, 0},
    {'g', SKIP, 2},
    {'b', SKIP, 4},
    {'r', RESTART, 0},
    {'u', END, TP_ENDED_PAUSED},
};

static double
value_of(const struct run *r, char letter)
{
    if (letter == 'N' || letter == 'n')
        return NAN;
    if (letter == 'I')
        return INFINITY;
    return (double)(r->next_id * 7919 % 101) / 10;
}

static void
act(struct run *r, enum action action, int how, double value)
{
    switch (action) {
    case SPACE:
        set_space(r, how == 0 ? r->which : !r->which);
        return;
    case ASK:
        ask(r);
        return;
    case TELL:
        tell_oldest(r, how, value);
        return;
    case END:
        end_oldest(r, how);
        return;
    case PLAN:
        calls_plan(&r->c, (uint64_t)how);
        return;
    case FOREIGN:
        calls_tell_foreign(&r->c, r->next_id, how);
        return;
    case FORGET:
        if (r->n_points > 0)
            forget(r, 0);
        return;
    case REPORT_OLDEST:
    case REPORT_NEWEST:
        report(r, unended(r, action == REPORT_NEWEST), value);
        return;
    case SKIP:
        skip(unended(r, false), (uint64_t)how);
        return;
    case RESTART:
        restart(unended(r, false));
        return;
    }
}

static void
step(struct run *r, char letter)
{
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (letters[i].letter == letter)
            act(r, letters[i].action, letters[i].how, value_of(r, letter));
}

int
tuner_order(const struct calls_setup *setup, const char *order,
            const char *title, const struct space *a, const struct space *b,
            struct err *err)
{
    struct run *r = calloc(1, sizeof *r);
    int rc;

    if (r == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    if (setup->answers != NULL)
        buf_printf(setup->answers, "# space: %s, order \"%s\"\n", title, order);
    r->spaces[0] = a;
    r->spaces[1] = b;
    calls_open(&r->c, setup);
    for (const char *at = order; *at != '\0'; at++) {
        if (r->over || r->c.broken)
            break;
        snprintf(r->c.place, sizeof r->c.place,
                 "space: %s, order \"%s\" at \"%s\"", title, order, at);
        step(r, *at);
        if (!r->over)
            calls_rest(&r->c, NULL, 0);
    }
    rc = calls_close(&r->c, err);
    while (r->n_points > 0)
        forget(r, 0);
    free(r);
    return rc;
}

int
tuner_orders(const struct calls_setup *setup, const char *title,
             const struct space *a, const struct space *b, struct err *err)
{
    for (size_t i = 0; i < N_ORDERS; i++)
        if (tuner_order(setup, orders[i], title, a, b, err) != 0)
            return -1;
    if (setup->plugin->kind != PLUGIN_TUNER ||
        setup->plugin->tuner.metric == NULL)
        return 0;
    for (size_t i = 0; i < N_ADVISOR_ORDERS; i++)
        if (tuner_order(setup, advisor_orders[i], title, a, b, err) != 0)
            return -1;
    return 0;
}

int
tuner_extreme(struct calls_setup *setup, const struct space_to_try *at,
              struct err *err)
{
    setup->may_fail = at->may_fail;
    return tuner_order(setup,
                       "saFeaFeaFeaaaFFFeeeaaamMmxxxaPpaPpa" FIVE
                       "aaaaaFeFeFeFeFe" FIVE FIVE,
                       at->title, at->space, at->space, err);
}

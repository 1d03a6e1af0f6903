/* SPDX-License-Identifier: MIT */
/* DESIGN.  An object is exchanged for one that was loaded from what it saved,
 * and the order of calls goes on without knowing: what differs then shows in
 * the answers.  What lies inside a filter is handed over as it is. */
#include "check/calls.h"

#include "check/calls_advice.h"
#include "check/calls_around.h"
#include "check/fakehost.h"
#include "check/inner.h"
#include "check/layer.h"
#include "check/lent.h"
#include "core/pack.h"
#include "numerics/random.h"
#include "plugin/floatenv.h"
#include "plugin/loader.h"
#include "plugin/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATE_MAX ((size_t)256 << 20)
#define SEED 42

/* The living trials of an assessor. */
struct living {
    const struct tp_history *const *list;
    size_t n;
    void **slots; /* of a new object; NULL: those of the list */
};

/* As a host from the future has them. */
struct later_sink {
    struct tp_sink now;
    void (*unheard_of)(void);
};

struct later_source {
    struct tp_source now;
    void (*unheard_of)(void);
};

/* ---- the calls ---- */

static void
call_save(struct calls *c, const struct living *l, struct buf *out)
{
    struct later_sink *sink = calloc(1, sizeof *sink);
    struct lent lent;
    int rc;

    if (lent_begin(&lent, l->list, l->n, l->slots) && sink != NULL) {
        sink->now = state_sink(out);
        sink->now._struct_size = sizeof *sink;
        calls_enter(c, "save", TP_NO_ID);
        rc = layer_save(c, lent.list, l->n, &sink->now);
        calls_leave(c, "save");
        calls_expect_ok(c, "save", rc);
    } else {
        calls_fail(c, "out of memory");
    }
    if (!lent_end(&lent, l->list))
        calls_fail(c, "save changed a history it was lent: work on a copy");
    free(sink);
    if (out->failed)
        calls_fail(c, "save wrote more than %zu bytes", STATE_MAX);
    if (out->len > c->setup->seen->state_max)
        c->setup->seen->state_max = out->len;
}

/* What is asked of the host with damaged coordinates is no fault. */
static int
call_load(struct calls *c, const struct living *l, struct unpack *from)
{
    struct later_source *source = calloc(1, sizeof *source);
    struct lent lent;
    int rc = TP_ERR;

    if (lent_begin(&lent, l->list, l->n, l->slots) && source != NULL) {
        source->now = state_source(from);
        source->now._struct_size = sizeof *source;
        calls_enter(c, "load", TP_NO_ID);
        rc = layer_load(c, lent.list, l->n, &source->now);
        if (c->setup->saving == CALLS_SAVED)
            calls_leave(c, "load");
        c->setup->seen->now[0] = '\0';
        floatenv_restore();
    } else {
        calls_fail(c, "out of memory");
    }
    if (!lent_end(&lent, l->list))
        calls_fail(c, "load changed a history it was lent: work on a copy");
    free(source);
    return rc;
}

/* ---- a new object like c's ---- */

static struct calls_setup
quiet(const struct calls *c)
{
    struct calls_setup setup = *c->setup;

    setup.answers = NULL;
    setup.mood = INNER_GIVES;
    return setup;
}

static void
open_like(struct calls *fresh, const struct calls *c,
          const struct calls_setup *setup)
{
    calls_open(fresh, setup);
    memcpy(fresh->place, c->place, sizeof fresh->place);
    if (c->space != NULL && !fresh->broken &&
        calls_space(fresh, c->space) != TP_OK)
        calls_fail(fresh, "space refused, in a new object, what it had taken");
}

/* It goes, and what was wrong with it is wrong with c. */
static void
drop(struct calls *fresh, struct calls *c)
{
    bool broken = fresh->broken;
    struct err err = {0};

    if (calls_close(fresh, &err) == 0 || c->broken || !broken)
        return;
    c->broken = true;
    c->err = err;
}

/* ---- exchanged ---- */

static void
load_all(struct calls *c, const struct living *l, const struct buf *state)
{
    struct unpack from = unpack_from(state->data, state->len);
    int rc;

    if (c->broken)
        return;
    rc = call_load(c, l, &from);
    calls_expect_ok(c, "load", rc);
    if (from.failed)
        calls_fail(c, "load read more than the %zu bytes that save had written",
                   state->len);
    else if (from.at != from.end)
        calls_fail(c, "load left %zu of the %zu bytes that save had written",
                   (size_t)(from.end - from.at), state->len);
}

static void
save_again(struct calls *c, const struct living *l, const struct buf *state)
{
    struct buf again;
    size_t at = 0;

    if (c->broken)
        return;
    buf_init(&again, STATE_MAX);
    call_save(c, l, &again);
    while (at < again.len && at < state->len &&
           again.data[at] == state->data[at])
        at++;
    if (at < again.len || at < state->len)
        calls_fail(c,
                   "save wrote other bytes after load than load had read, from "
                   "byte %zu on (%zu bytes, then %zu)",
                   at, state->len, again.len);
    buf_fini(&again);
}

/* fresh becomes c. */
static void
replace(struct calls *c, struct calls *fresh, const struct living *l)
{
    struct err err = {0};

    inner_take_over(fresh->inner, c->inner, c);
    calls_take_given(fresh, c);
    fresh->setup = c->setup;
    fresh->rests = c->rests;
    if (calls_close(c, &err) != 0) {
        fresh->broken = true;
        fresh->err = err;
    }
    for (size_t i = 0; i < l->n; i++)
        *l->list[i]->slot = l->slots[i];
    *c = *fresh;
}

static void
exchange(struct calls *c, struct living l, const struct buf *state)
{
    struct calls_setup setup = quiet(c);
    struct calls fresh;

    l.slots = calloc(l.n + 1, sizeof *l.slots);
    if (l.slots == NULL) {
        calls_fail(c, "out of memory");
        return;
    }
    open_like(&fresh, c, &setup);
    load_all(&fresh, &l, state);
    save_again(&fresh, &l, state);
    c->setup->seen->loads++;
    if (fresh.broken)
        drop(&fresh, c);
    else
        replace(c, &fresh, &l);
    free(l.slots);
}

/* ---- damaged ---- */

static uint64_t
dice(const struct calls *c, uint32_t draw)
{
    struct random_stream s = random_stream(SEED, RANDOM_TEST, c->rests, 0);

    return random_bits(&s, draw);
}

enum damage { CUT, CUT_LAST, BIT, BYTE, ONES, SMALL, N_DAMAGES };

struct damaged {
    char *data; /* to be freed */
    size_t len;
    char how[80];
};

static void
make_damaged(const struct calls *c, enum damage damage, const struct buf *state,
             struct damaged *out)
{
    static const char *const words[] = {"cut off",         "cut off",
                                        "a bit turned",    "a byte changed",
                                        "a word all ones", "a small word"};
    uint64_t bits = dice(c, 1 + (uint32_t)damage);
    size_t at = (size_t)(bits >> 11) % state->len;
    size_t word = state->len < 8 ? 0 : at / 8 * 8;
    size_t width = state->len - word < 8 ? state->len - word : 8;

    /* Exactly as long as it is, so that a sanitizer sees its end. */
    out->len = damage == CUT        ? at
               : damage == CUT_LAST ? state->len - 1
                                    : state->len;
    out->data = malloc(out->len + (out->len == 0));
    snprintf(out->how, sizeof out->how,
             "the state of %zu bytes was damaged: %s at %zu", state->len,
             words[damage], damage == CUT_LAST ? out->len : at);
    if (out->data == NULL)
        return;
    memcpy(out->data, state->data, out->len);
    if (damage == BIT)
        out->data[at] = (char)(out->data[at] ^ 1 << (bits & 7));
    else if (damage == BYTE)
        out->data[at] = (char)(bits & 255);
    else if (damage == ONES)
        memset(out->data + word, 0xff, width);
    else if (damage == SMALL) {
        memset(out->data + word, 0, width);
        out->data[word] = (char)(bits & 7);
    }
}

static void
use_tuner(struct calls *c)
{
    for (uint64_t id = 1000; id < 1004; id++) {
        double *x;

        c->broken = false;
        if (calls_ask(c, id, &x) != TP_OK)
            continue;
        calls_tell(c, id, x, TP_RESULT_FINAL, 0.5);
        calls_ended(c, id, x, TP_ENDED_SUCCEEDED);
        free(x);
    }
    c->broken = false;
    calls_tell_foreign(c, 1, TP_RESULT_IMPORTED);
    c->broken = false;
    calls_space(c, c->space);
}

static void
use_assessor(struct calls *c, const struct living *l)
{
    for (size_t i = 0; i < l->n; i++) {
        struct tp_history h = *l->list[i];

        h.slot = &l->slots[i];
        c->broken = false;
        calls_assess(c, &h);
        c->broken = false;
        calls_trial_ended(c, &h, TP_TRIAL_SUCCEEDED);
    }
}

/* What was taken although it is damaged may answer anything, and crash at
 * nothing. */
static void
use(struct calls *c, const struct living *l)
{
    if (c->setup->plugin->kind == PLUGIN_ASSESSOR)
        use_assessor(c, l);
    else
        use_tuner(c);
    c->broken = false;
}

static void
load_damaged(struct calls *c, const struct living *l, const struct damaged *d,
             bool cut)
{
    struct unpack from = unpack_from(d->data, d->len);
    int rc;

    if (c->broken)
        return;
    snprintf(c->place, sizeof c->place, "%s", d->how);
    rc = call_load(c, l, &from);
    c->setup->seen->damaged++;
    c->setup->seen->refused_states += rc == TP_ERR;
    if (rc == TP_ERR && fake_host_error(c->host)[0] == '\0')
        calls_fail(c, "load failed and did not say why: call host->error() "
                      "before it returns TP_ERR");
    else if (rc != TP_ERR && rc != TP_OK)
        calls_fail(c, "load returned %d, expected TP_OK (0) or TP_ERR (-1)",
                   rc);
    else if (rc == TP_OK && cut)
        calls_fail(c, "load returned TP_OK though the end was missing: look "
                      "at what the source returns");
    else if (rc == TP_OK)
        use(c, l);
}

static void
try_damaged(struct calls *c, struct living l, const struct buf *state,
            enum damage damage)
{
    struct calls_setup setup = quiet(c);
    struct damaged d;
    struct calls fresh;

    make_damaged(c, damage, state, &d);
    l.slots = calloc(l.n + 1, sizeof *l.slots);
    if (d.data == NULL || l.slots == NULL) {
        calls_fail(c, "out of memory");
    } else {
        open_like(&fresh, c, &setup);
        load_damaged(&fresh, &l, &d, damage == CUT || damage == CUT_LAST);
        drop(&fresh, c);
    }
    free(l.slots);
    free(d.data);
}

void
calls_rest(struct calls *c, const struct tp_history *const *living, size_t n)
{
    const struct calls_setup *setup = c->setup;
    const struct living l = {living, n, NULL};
    struct buf state;
    uint64_t bits;

    if (c->broken || setup->saving == CALLS_NOT_SAVED ||
        setup->saving_every == 0 || !layer_saves(setup->plugin) ||
        (setup->plugin->kind != PLUGIN_ASSESSOR && c->space == NULL))
        return;
    c->rests++;
    bits = dice(c, 0);
    if (bits % setup->saving_every != 0)
        return;
    buf_init(&state, STATE_MAX);
    call_save(c, &l, &state);
    for (int i = 0; setup->saving == CALLS_DAMAGED && i < N_DAMAGES; i++)
        if (!c->broken && state.len > 0)
            try_damaged(c, l, &state, (enum damage)i);
    if (!c->broken && setup->saving == CALLS_SAVED &&
        bits / setup->saving_every % 2 == 0)
        exchange(c, l, &state);
    buf_fini(&state);
}

/* SPDX-License-Identifier: MIT */
#include "sim/object.h"

#include "check/fakehost.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/pack.h"
#include "numerics/random.h"
#include "plugin/arguments.h"
#include "plugin/loader.h"
#include "plugin/state.h"
#include "space/space.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct object {
    struct tp_host host;
    const struct tp_tuner *tuner;
    const char *name;
    struct arguments *args;
    const struct space *space;
    uint64_t seed;
    void *self;
    char said[512];  /* with host->error() */
    char fault[256]; /* what was wrong with a call of a service */
    char extras[SIM_EXTRAS];
    struct decided decided;
    uint64_t about; /* the id asked for, told or reported */
    bool asking;
};

static void
host_error(void *ctx, const char *fmt, ...)
{
    struct object *o = ctx;
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(o->said, sizeof o->said, fmt, ap);
    va_end(ap);
}

static void
host_log(void *ctx, int level, const char *fmt, ...)
{
    (void)ctx;
    (void)level;
    (void)fmt;
}

static uint64_t
host_bits(void *ctx, uint64_t a, uint32_t b, uint32_t draw)
{
    const struct object *o = ctx;
    struct random_stream s = random_stream(o->seed, RANDOM_TEST, a, b);

    return random_bits(&s, draw);
}

static double
host_uniform(void *ctx, uint64_t a, uint32_t b, uint32_t draw)
{
    return (double)(host_bits(ctx, a, b, draw) >> 11) * 0x1p-53;
}

static void
host_sample(void *ctx, uint64_t draw_id, double *x)
{
    const struct object *o = ctx;

    space_sample(o->space, o->seed, draw_id, x);
}

static double
host_value(void *ctx, size_t dim, double x)
{
    const struct object *o = ctx;

    return space_value(o->space, dim, x);
}

static int
host_key(void *ctx, const double *x, uint64_t *key)
{
    const struct object *o = ctx;

    if (space_check(o->space, x, NULL) != 0)
        return TP_ERR;
    space_key(o->space, x, key);
    return TP_OK;
}

/* Somebody wants to know: so every line is formatted. */
static int
host_explain(void *ctx, const char *fmt, ...)
{
    char text[501];
    va_list ap;

    (void)ctx;
    if (fmt == NULL)
        return 1;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return 1;
}

static int
host_element(void *ctx, size_t dim, uint64_t index, struct tp_element *out)
{
    const struct object *o = ctx;

    return space_element(o->space, dim, index, out) ? TP_OK : TP_ERR;
}

static void
host_extra(void *ctx, const char *key, const char *text)
{
    struct object *o = ctx;
    size_t len = strlen(o->extras);

    if (!o->asking)
        snprintf(o->fault, sizeof o->fault, "extra() outside of ask");
    snprintf(o->extras + len, sizeof o->extras - len, "%s=%s\n", key, text);
}

static void
host_decide(void *ctx, uint64_t id, int decision)
{
    struct object *o = ctx;
    struct decided *d = &o->decided;

    if (id == o->about && decision != TP_RELEASE)
        snprintf(o->fault, sizeof o->fault,
                 "decide() on %" PRIu64 ", which the call is about", id);
    else if (decision < TP_STOP || decision > TP_RELEASE)
        snprintf(o->fault, sizeof o->fault, "decide() with %d", decision);
    else if (d->n == SIM_DECIDED)
        snprintf(o->fault, sizeof o->fault, "too many decisions at once");
    else
        d->at[d->n++] = (__typeof__(d->at[0])){id, decision};
}

static void
enter(struct object *o, uint64_t about, bool asking)
{
    o->about = about;
    o->asking = asking;
    o->said[0] = o->extras[0] = '\0';
    o->decided.n = 0;
}

/* What came back of a call that may answer 0..most. */
static int
leave(struct object *o, const char *callback, int rc, int most, struct err *err)
{
    o->asking = false;
    if ((rc < TP_OK || rc > most) && o->about == TP_NO_ID)
        return err_set(err, ERR_PLUGIN, "%s: %s gave %d: %s", o->name, callback,
                       rc, o->said);
    if (rc < TP_OK || rc > most)
        return err_set(err, ERR_PLUGIN, "%s: %s of %" PRIu64 " gave %d: %s",
                       o->name, callback, o->about, rc, o->said);
    if (o->fault[0] != '\0')
        return err_set(err, ERR_PLUGIN, "%s: %s: %s", o->name, callback,
                       o->fault);
    return 0;
}

static struct tp_host
services(struct object *o)
{
    return (struct tp_host){
        ._struct_size = sizeof(struct tp_host),
        .ctx = o,
        .error = host_error,
        .log = host_log,
        .uniform = host_uniform,
        .bits = host_bits,
        .sample = host_sample,
        .value = host_value,
        .key = host_key,
        .explain = host_explain,
        .element = host_element,
        .extra = host_extra,
        .decide = host_decide,
    };
}

static int
begin(struct object *o, const struct plugin *p, struct err *err)
{
    enter(o, TP_NO_ID, false);
    o->self = o->tuner->create(&o->host);
    if (o->self == NULL)
        return err_set(err, ERR_PLUGIN, "%s: create: %s", o->name, o->said);
    enter(o, TP_NO_ID, false);
    return leave(
        o, "config",
        o->tuner->config(o->self, arguments_values(o->args), p->n_args), TP_OK,
        err);
}

struct object *
object_new(const struct plugin *p, const char *args, uint64_t seed,
           const struct space *space, struct err *err)
{
    struct object *o = calloc(1, sizeof *o);

    if (o == NULL) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    o->tuner = &p->tuner;
    o->name = p->name;
    o->seed = seed;
    o->space = space;
    o->host = services(o);
    o->args = fake_arguments(p, args, err);
    if (o->args != NULL && begin(o, p, err) == 0 &&
        object_space(o, space, err) == 0)
        return o;
    object_free(o);
    return NULL;
}

void
object_free(struct object *o)
{
    if (o == NULL)
        return;
    if (o->self != NULL)
        o->tuner->destroy(o->self);
    arguments_free(o->args);
    free(o);
}

int
object_space(struct object *o, const struct space *space, struct err *err)
{
    o->space = space;
    enter(o, TP_NO_ID, false);
    return leave(o, "space", o->tuner->space(o->self, space_dims(space)), TP_OK,
                 err);
}

static void
read_suggestion(const struct object *o, const struct tp_suggestion *s,
                struct suggested *out)
{
    snprintf(out->label, sizeof out->label, "%s",
             s->label == NULL ? "" : s->label);
    out->budget = s->budget;
    out->from = s->from;
    out->from_how = s->from_how;
    memcpy(out->extras, o->extras, sizeof out->extras);
}

int
object_ask(struct object *o, uint64_t id, struct suggested *out,
           struct err *err)
{
    struct tp_suggestion s = {
        ._struct_size = sizeof s, .x = out->x, .from = TP_NO_ID};

    memset(out, 0, sizeof *out);
    out->n_dims = space_dims(o->space)->n_dims;
    for (size_t i = 0; i < out->n_dims; i++)
        out->x[i] = NAN;
    enter(o, id, true);
    out->rc = o->tuner->ask(o->self, id, &s);
    if (leave(o, "ask", out->rc, TP_DONE, err) != 0)
        return -1;
    if (out->rc == TP_OK)
        read_suggestion(o, &s, out);
    return 0;
}

int
object_metric(struct object *o, uint64_t id, const double *x,
              const struct tp_metric *metric, int *decision, struct err *err)
{
    struct tp_verdict verdict = {
        ._struct_size = sizeof verdict, .value = NAN, .threshold = NAN};
    struct tp_metric m = *metric;

    m._struct_size = sizeof m;
    *decision = TP_GO;
    if (o->tuner->metric == NULL)
        return 0;
    enter(o, id, false);
    if (leave(o, "metric", o->tuner->metric(o->self, id, x, &m, &verdict),
              TP_OK, err) != 0)
        return -1;
    *decision = verdict.decision;
    if (verdict.decision < TP_GO || verdict.decision > TP_FINISH)
        return err_set(err, ERR_PLUGIN, "%s: metric decided %d", o->name,
                       verdict.decision);
    return 0;
}

int
object_tell(struct object *o, uint64_t id, const double *x,
            const struct tp_result *result, struct err *err)
{
    struct tp_result r = *result;

    r._struct_size = sizeof r;
    enter(o, id, false);
    return leave(o, "tell", o->tuner->tell(o->self, id, x, &r), TP_OK, err);
}

int
object_ended(struct object *o, uint64_t id, const double *x, int how,
             struct err *err)
{
    enter(o, id, false);
    return leave(o, "ended", o->tuner->ended(o->self, id, x, how), TP_OK, err);
}

const struct decided *
object_decided(const struct object *o)
{
    return &o->decided;
}

int
object_save(struct object *o, struct buf *out, struct err *err)
{
    struct tp_sink sink = state_sink(out);

    enter(o, TP_NO_ID, false);
    if (leave(o, "save", o->tuner->save(o->self, &sink), TP_OK, err) != 0)
        return -1;
    return buf_check(out, "what an advisor saved", err);
}

int
object_load(struct object *o, const struct buf *state, struct err *err)
{
    struct unpack from = unpack_from(state->data, state->len);
    struct tp_source source = state_source(&from);

    enter(o, TP_NO_ID, false);
    if (leave(o, "load", o->tuner->load(o->self, &source), TP_OK, err) != 0)
        return -1;
    if (!unpack_done(&from))
        return err_set(err, ERR_PLUGIN, "%s: load left something unread",
                       o->name);
    return 0;
}

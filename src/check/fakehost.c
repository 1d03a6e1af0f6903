/* SPDX-License-Identifier: MIT */
#include "check/fakehost.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/problems.h"
#include "numerics/random.h"
#include "plugin/arguments.h"
#include "plugin/demands.h"
#include "plugin/loader.h"
#include "space/space.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake_host {
    struct {
        struct tp_host now;
        void (*unheard_of)(void);
    } services;
    uint64_t seed;
    const struct space *space;
    char error[512], said[512];
    bool wants_to_know; /* why */
    const char *fault;  /* what a service was asked wrongly; NULL: nothing */
    bool forgives;      /* to be asked for the key of no point */
    uint64_t calls, calls_max;
    void (*over)(void *ctx); /* NULL: calls are not limited */
    void *over_ctx;
    struct demands demands;
};

struct later_dim {
    struct tp_dim now;
    double unheard_of;
};

static void
fake_error(void *ctx, const char *fmt, ...)
{
    struct fake_host *h = ctx;
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(h->error, sizeof h->error, fmt, ap);
    va_end(ap);
}

static void
fake_log(void *ctx, int level, const char *fmt, ...)
{
    struct fake_host *h = ctx;
    char text[512];
    va_list ap;

    if (level < TP_LOG_ERROR || level > TP_LOG_DEBUG)
        h->fault = "host->log() was given an unknown level";
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (strchr(text, '\n') != NULL)
        h->fault = "host->log() was given more than one line";
}

/* Counts a call of a service, and ends a plugin that calls without end, as one
 * does that waits for a point to be accepted. */
static void
count(struct fake_host *h)
{
    if (h->over != NULL && ++h->calls > h->calls_max)
        h->over(h->over_ctx);
}

static uint64_t
fake_bits(void *ctx, uint64_t a, uint32_t b, uint32_t draw)
{
    struct fake_host *h = ctx;
    struct random_stream s = random_stream(h->seed, RANDOM_TEST, a, b);

    count(h);
    return random_bits(&s, draw);
}

static double
fake_uniform(void *ctx, uint64_t a, uint32_t b, uint32_t draw)
{
    return (double)(fake_bits(ctx, a, b, draw) >> 11) * 0x1p-53;
}

static void
fake_sample(void *ctx, uint64_t draw_id, double *x)
{
    struct fake_host *h = ctx;

    count(h);
    if (h->space == NULL)
        h->fault = "host->sample() was called before space()";
    else
        space_sample(h->space, h->seed, draw_id, x);
}

static double
fake_value(void *ctx, size_t dim, double x)
{
    struct fake_host *h = ctx;

    count(h);
    if (h->space == NULL) {
        h->fault = "host->value() was called before space()";
        return NAN;
    }
    return space_value(h->space, dim, x);
}

static int
fake_key(void *ctx, const double *x, uint64_t *key)
{
    struct fake_host *h = ctx;
    bool is_point = h->space != NULL && space_check(h->space, x, NULL) == 0;

    count(h);
    if (h->space == NULL)
        h->fault = "host->key() was called before space()";
    else if (!is_point && !h->forgives)
        h->fault = "host->key() was given what is no point of the space";
    if (!is_point || h->fault != NULL)
        return TP_ERR;
    space_key(h->space, x, key);
    return TP_OK;
}

static int
fake_explain(void *ctx, const char *fmt, ...)
{
    struct fake_host *h = ctx;
    char text[512];
    va_list ap;

    if (!h->wants_to_know || fmt == NULL)
        return h->wants_to_know;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (strchr(text, '\n') != NULL)
        h->fault = "host->explain() was given more than one line";
    return 1;
}

static int
fake_element(void *ctx, size_t dim, uint64_t index, struct tp_element *out)
{
    struct fake_host *h = ctx;

    count(h);
    if (h->space != NULL)
        return space_element(h->space, dim, index, out) ? TP_OK : TP_ERR;
    h->fault = "host->element() was called before space()";
    return TP_ERR;
}

static void
fake_extra(void *ctx, const char *key, const char *text)
{
    struct fake_host *h = ctx;

    if (h->demands.takes_extras)
        demands_extra(&h->demands, key, text);
    else
        h->fault = "host->extra() was called outside of ask";
}

static void
fake_decide(void *ctx, uint64_t id, int decision)
{
    struct fake_host *h = ctx;

    if (h->demands.takes_decisions)
        demands_decide(&h->demands, id, decision);
    else
        h->fault = "host->decide() was called outside of ask, tell, ended and "
                   "metric";
}

struct demands *
fake_host_demands(struct fake_host *h)
{
    return &h->demands;
}

struct fake_host *
fake_host_new(uint64_t seed, bool wants_to_know)
{
    struct fake_host *h = calloc(1, sizeof *h);

    if (h == NULL)
        return NULL;
    h->services.now = (struct tp_host){
        ._struct_size = sizeof h->services,
        .ctx = h,
        .error = fake_error,
        .log = fake_log,
        .uniform = fake_uniform,
        .bits = fake_bits,
        .sample = fake_sample,
        .value = fake_value,
        .key = fake_key,
        .explain = fake_explain,
        .element = fake_element,
        .extra = fake_extra,
        .decide = fake_decide,
    };
    h->seed = seed;
    h->wants_to_know = wants_to_know;
    return h;
}

void
fake_host_free(struct fake_host *h)
{
    if (h != NULL)
        demands_fini(&h->demands);
    free(h);
}

const struct tp_host *
fake_host_services(const struct fake_host *h)
{
    return &h->services.now;
}

const char *
fake_host_error(struct fake_host *h)
{
    memcpy(h->said, h->error, sizeof h->said);
    h->error[0] = '\0';
    return h->said;
}

const char *
fake_host_fault(const struct fake_host *h)
{
    return h->fault;
}

void
fake_host_limit(struct fake_host *h, uint64_t most, void (*over)(void *),
                void *ctx)
{
    h->calls_max = most;
    h->over = over;
    h->over_ctx = ctx;
}

void
fake_host_enter(struct fake_host *h)
{
    h->calls = 0;
}

void
fake_host_forgive(struct fake_host *h, bool forgives)
{
    h->forgives = forgives;
}

struct tp_space *
fake_host_space(struct fake_host *h, const struct space *space)
{
    const struct tp_space *from = space_dims(space);
    struct tp_space *to = calloc(1, sizeof *to);
    struct later_dim *dims = malloc(from->n_dims * sizeof *dims + 1);

    if (to == NULL || dims == NULL) {
        free(to);
        free(dims);
        return NULL;
    }
    for (size_t i = 0; i < from->n_dims; i++)
        dims[i] = (struct later_dim){*TP_DIM(from, i), NAN};
    *to = (struct tp_space){
        ._struct_size = sizeof *to,
        .n_dims = from->n_dims,
        .dim_size = sizeof *dims,
        .dims = &dims->now,
    };
    h->space = space;
    return to;
}

void
fake_space_free(struct tp_space *s)
{
    if (s == NULL)
        return;
    free((void *)(uintptr_t)s->dims);
    free(s);
}

/* Some value that the table allows. */
static void
make_up(const struct tp_arg *arg, struct buf *out)
{
    bool bounded = arg->low != 0 || arg->high != 0;
    double number = bounded && isfinite(arg->low) ? arg->low : 1;
    size_t len = arg->choices == NULL ? 0 : strcspn(arg->choices, "|");

    if (arg->type == TP_ARG_BOOL)
        buf_add_text(out, "true");
    else if (arg->type == TP_ARG_STRING)
        json_write_string(out, len > 0 ? arg->choices : "text",
                          len > 0 ? len : 4);
    else
        buf_printf(out, "%.0f", ceil(number));
}

/* An object with all that the plugin's table has no default for. */
static void
make_up_all(const struct plugin *p, struct buf *text)
{
    struct json_writer w = json_begin_object(text);

    for (size_t i = 0; i < p->n_args; i++)
        if (p->args[i].def == NULL)
            make_up(&p->args[i], json_value(&w, p->args[i].name));
    json_close(&w);
}

struct arguments *
fake_arguments(const struct plugin *p, const char *given, struct err *err)
{
    struct problems problems;
    struct arguments *args = NULL;
    struct json *doc;
    struct buf text;

    buf_init(&text, 65536);
    if (given != NULL)
        buf_add_text(&text, given);
    else
        make_up_all(p, &text);
    problems_init(&problems);
    doc = json_parse(buf_text(&text), text.len, JSON_UNIQUE, err);
    if (doc != NULL) {
        args = arguments_parse(p->args, p->n_args, json_root(doc), p->name,
                               &problems);
        if (args == NULL && problems_check(&problems, err) == 0)
            err_set(err, ERR_MEMORY, "out of memory");
    }
    problems_fini(&problems);
    json_free(doc);
    buf_fini(&text);
    return args;
}

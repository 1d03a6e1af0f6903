/* SPDX-License-Identifier: MIT */
/* tunepipe/shell.h - what plugins write again and again in their shell, the
 * code between the host and the algorithm.  Optional, to be included beside
 * tunepipe/tuner.h or tunepipe/assessor.h.
 *
 * It is no part of the ABI: its functions are static and call nothing but the
 * host and libc, its macros are rows of tables.
 *
 * - A service of the host: tp_error(host, ...) is host->error(host->ctx, ...).
 *   Where the host is too old to have it, the function does what the service
 *   does when it has nothing to say, so TP_HAS need not be asked.  Formats are
 *   checked by the compiler.
 * - A value that is saved: tp_put_u64(sink, 1) is sink->u64(sink->ctx, 1).
 *
 * Threads and lending are those of the service: tp_error and tp_log may be
 * called by any thread, what calls another service within a callback.  Only
 * tp_new returns something that has to be freed.  Manual: tunepipe-shell(3). */
#ifndef TUNEPIPE_SHELL_H
#define TUNEPIPE_SHELL_H

#include "tunepipe/plugin.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct tp_result;
struct tp_history;

/* Rows of the table of arguments:
 *
 *   enum { MODE, PATIENCE, SEED, N_ARGS };
 *   static const struct tp_arg args[N_ARGS] = {
 *       [MODE] = TP_MODE("maximize", "whether larger values are better"),
 *       [PATIENCE] = TP_INT("patience", 10, 1, 1e9, "values that may pass"),
 *       [SEED] = TP_SEED("seed of the random numbers"),
 *   };
 *
 * Numbers and truths are written out, `10` and not a macro that means it: the
 * default is what stands here.  low and high are inclusive; 0, 0: any.  What
 * these do not have, such as an argument that the user has to give, is a row
 * like any other: {"ms", TP_ARG_INT, 0, NULL, 0, 1000, NULL, "..."}. */
#define TP_INT(name, def, low, high, doc) \
    TP_IMPL_ROW(name, TP_ARG_INT, 0, #def, low, high, NULL, doc)
#define TP_DOUBLE(name, def, low, high, doc) \
    TP_IMPL_ROW(name, TP_ARG_DOUBLE, 0, #def, low, high, NULL, doc)
#define TP_BOOL(name, def, doc) \
    TP_IMPL_ROW(name, TP_ARG_BOOL, 0, #def, 0, 0, NULL, doc)
#define TP_STRING(name, def, doc) \
    TP_IMPL_ROW(name, TP_ARG_STRING, 0, "\"" def "\"", 0, 0, NULL, doc)

/* One of several words: TP_ONE_OF("type", "ipop", "none|ipop|bipop", "..."). */
#define TP_ONE_OF(name, def, choices, doc) \
    TP_IMPL_ROW(name, TP_ARG_STRING, 0, "\"" def "\"", 0, 0, choices, doc)

/* May be null, and is null unless the user gives it. */
#define TP_INT_OR_NULL(name, low, high, doc) \
    TP_IMPL_ROW(name, TP_ARG_INT, 1, "null", low, high, NULL, doc)
#define TP_DOUBLE_OR_NULL(name, low, high, doc) \
    TP_IMPL_ROW(name, TP_ARG_DOUBLE, 1, "null", low, high, NULL, doc)
#define TP_STRING_OR_NULL(name, doc) \
    TP_IMPL_ROW(name, TP_ARG_STRING, 1, "null", 0, 0, NULL, doc)

/* optimize_mode, which is the experiment's direction unless the user gives
 * another; TP_MODE_IGNORED where nothing depends on it: NNI's configurations
 * give it to every tuner. */
#define TP_MODE(def, doc) \
    TP_ONE_OF("optimize_mode", def, "maximize|minimize", doc)
#define TP_MODE_IGNORED                                          \
    TP_IMPL_ROW("optimize_mode", TP_ARG_STRING, 1, "null", 0, 0, \
                "maximize|minimize", "accepted and not looked at")

/* seed, on which the host acts: the plugin has nothing to do with it. */
#define TP_SEED(of)                                         \
    TP_IMPL_ROW("seed", TP_ARG_SEED, 1, "null", 0, 0, NULL, \
                of "; null: the experiment's")

/* Members in the order of struct tp_arg. */
#define TP_IMPL_ROW(name, type, nullable, def, low, high, choices, doc) \
    {                                                                   \
        name, type, nullable, def, low, high, choices, doc              \
    }

/* In the table of callbacks: .args = TP_ARGS(args), which is args, n_args and
 * arg_size. */
#define TP_ARGS(rows) rows, sizeof(rows) / sizeof(rows)[0], sizeof(rows)[0]

/* Whether an argument is this word; 0 for null. */
static __inline__ int
tp_is(const struct tp_value *value, const char *word)
{
    return !value->is_null && strcmp(value->text, word) == 0;
}

/* Whether larger results are better under this optimize_mode. */
static __inline__ int
tp_maximizes(const struct tp_value *mode)
{
    return tp_is(mode, "maximize");
}

/* An argument's number, or `if_null`. */
static __inline__ int64_t
tp_integer_or(const struct tp_value *value, int64_t if_null)
{
    return value->is_null ? if_null : value->integer;
}

static __inline__ double
tp_number_or(const struct tp_value *value, double if_null)
{
    return value->is_null ? if_null : value->number;
}

/* An argument's text, which stays until destroy() has returned; NULL for
 * null. */
static __inline__ const char *
tp_text_or_null(const struct tp_value *value)
{
    return value->is_null ? NULL : value->text;
}

/* A line for people has at most 500 bytes and no newline. */
#define TP_IMPL_LINE_MAX 512

/* C90 has no vsnprintf. */
static __inline__ void
tp_impl_print(char line[TP_IMPL_LINE_MAX], const char *fmt, va_list ap)
{
    __builtin_vsnprintf(line, TP_IMPL_LINE_MAX, fmt, ap);
}

/* Says why the callback fails.  Always TP_ERR, for
 * return tp_error(self->host, "sigma is %g, expected ...", sigma); */
__attribute__((format(printf, 2, 3))) static __inline__ int
tp_error(const struct tp_host *host, const char *fmt, ...)
{
    char line[TP_IMPL_LINE_MAX];
    va_list ap;

    va_start(ap, fmt);
    tp_impl_print(line, fmt, ap);
    va_end(ap);
    host->error(host->ctx, "%s", line);
    return TP_ERR;
}

/* Says that there is no memory for the callback.  Always TP_ERR. */
static __inline__ int
tp_out_of_memory(const struct tp_host *host)
{
    return tp_error(host, "out of memory");
}

/* TP_OK when rc is 0; else says that there is no memory and is TP_ERR. */
static __inline__ int
tp_ok_or_memory(const struct tp_host *host, int rc)
{
    return rc == 0 ? TP_OK : tp_out_of_memory(host);
}

/* TP_OK when `wrong` is NULL; else says what is wrong and is TP_ERR: for
 * functions of an algorithm, which knows no host, that return such a text. */
static __inline__ int
tp_ok_unless(const struct tp_host *host, const char *wrong)
{
    return wrong == NULL ? TP_OK : tp_error(host, "%s", wrong);
}

/* Says something to people, whatever the callback returns; `level` is
 * TP_LOG_... */
__attribute__((format(printf, 3, 4))) static __inline__ void
tp_log(const struct tp_host *host, int level, const char *fmt, ...)
{
    char line[TP_IMPL_LINE_MAX];
    va_list ap;

    va_start(ap, fmt);
    tp_impl_print(line, fmt, ap);
    va_end(ap);
    host->log(host->ctx, level, "%s", line);
}

/* Whether somebody wants to know why: for explanations that cost something to
 * find out.  No answer may depend on it. */
static __inline__ int
tp_explains(const struct tp_host *host)
{
    return TP_HAS(host, explain) && host->explain(host->ctx, NULL);
}

/* Says why the answer is what it is, in ask, metric or assess; the line is not
 * even formatted when nobody wants to know. */
__attribute__((format(printf, 2, 3))) static __inline__ void
tp_explain(const struct tp_host *host, const char *fmt, ...)
{
    char line[TP_IMPL_LINE_MAX];
    va_list ap;

    if (!tp_explains(host))
        return;
    va_start(ap, fmt);
    tp_impl_print(line, fmt, ap);
    va_end(ap);
    host->explain(host->ctx, "%s", line);
}

/* Random numbers and draws of the prior, as host->uniform(), bits() and
 * sample() give them. */
static __inline__ double
tp_uniform(const struct tp_host *host, uint64_t a, uint32_t b, uint32_t draw)
{
    return host->uniform(host->ctx, a, b, draw);
}

static __inline__ uint64_t
tp_bits(const struct tp_host *host, uint64_t a, uint32_t b, uint32_t draw)
{
    return host->bits(host->ctx, a, b, draw);
}

static __inline__ void
tp_sample(const struct tp_host *host, uint64_t draw_id, double *x)
{
    host->sample(host->ctx, draw_id, x);
}

/* host->value(), under another name than struct tp_value's; NaN in a host
 * without it. */
static __inline__ double
tp_value_of(const struct tp_host *host, size_t dim, double x)
{
    return TP_HAS(host, value) ? host->value(host->ctx, dim, x)
                               : __builtin_nan("");
}

/* host->key(); TP_ERR in a host without it. */
static __inline__ int
tp_key(const struct tp_host *host, const double *x, uint64_t *key)
{
    return TP_HAS(host, key) ? host->key(host->ctx, x, key) : TP_ERR;
}

/* host->element(), under another name than struct tp_element's; sets
 * out->_struct_size, too.  TP_ERR in a host without it. */
static __inline__ int
tp_element_of(const struct tp_host *host, size_t dim, uint64_t index,
              struct tp_element *out)
{
    out->_struct_size = sizeof *out;
    return TP_HAS(host, element) ? host->element(host->ctx, dim, index, out)
                                 : TP_ERR;
}

/* host->extra() and decide(); a host without them is told nothing. */
static __inline__ void
tp_extra(const struct tp_host *host, const char *key, const char *text)
{
    if (TP_HAS(host, extra))
        host->extra(host->ctx, key, text);
}

static __inline__ void
tp_decide(const struct tp_host *host, uint64_t id, int decision)
{
    if (TP_HAS(host, decide))
        host->decide(host->ctx, id, decision);
}

/* For create: a zeroed object of `size` bytes, whose first member is a
 * `const struct tp_host *`, which is set; NULL when there is no memory, and the
 * host has been told.  The caller's, for free(). */
static __inline__ void *
tp_new(const struct tp_host *host, size_t size)
{
    void *self = calloc(1, size);

    if (self == NULL)
        tp_out_of_memory(host);
    else
        *(const struct tp_host **)self = host;
    return self;
}

/* For create in a host that lacks what the plugin cannot do without:
 * if (!TP_HAS(host, key)) return tp_too_old(host, "host->key()");
 * Always NULL. */
static __inline__ void *
tp_too_old(const struct tp_host *host, const char *missing)
{
    tp_error(host, "this program is too old: it has no %s", missing);
    return NULL;
}

/* Values that are saved, as the functions of struct tp_sink take them. */

static __inline__ void
tp_put_u64(const struct tp_sink *sink, uint64_t value)
{
    sink->u64(sink->ctx, value);
}

static __inline__ void
tp_put_f64(const struct tp_sink *sink, double value)
{
    sink->f64(sink->ctx, value);
}

static __inline__ void
tp_put_f64s(const struct tp_sink *sink, const double *values, size_t n)
{
    sink->f64s(sink->ctx, values, n);
}

static __inline__ void
tp_put_bytes(const struct tp_sink *sink, const void *bytes, size_t n)
{
    sink->bytes(sink->ctx, bytes, n);
}

/* Values that are loaded, as those of struct tp_source give them: TP_OK, or
 * TP_ERR when so much is not there. */

static __inline__ int
tp_get_u64(const struct tp_source *source, uint64_t *out)
{
    return source->u64(source->ctx, out);
}

static __inline__ int
tp_get_f64(const struct tp_source *source, double *out)
{
    return source->f64(source->ctx, out);
}

static __inline__ int
tp_get_f64s(const struct tp_source *source, double *out, size_t n)
{
    return source->f64s(source->ctx, out, n);
}

static __inline__ int
tp_get_bytes(const struct tp_source *source, void *out, size_t n)
{
    return source->bytes(source->ctx, out, n);
}

/* How many bytes have not been read. */
static __inline__ size_t
tp_left(const struct tp_source *source)
{
    return source->left(source->ctx);
}

/* A tuner's tell, when it does not learn from results, and its save and load,
 * when its suggestions depend on nothing that would have to be saved.  Always
 * TP_OK. */

static __inline__ int
tp_tell_nothing(void *self, uint64_t id, const double *x,
                const struct tp_result *result)
{
    (void)self;
    (void)id;
    (void)x;
    (void)result;
    return TP_OK;
}

static __inline__ int
tp_save_nothing(void *self, const struct tp_sink *sink)
{
    (void)self;
    (void)sink;
    return TP_OK;
}

static __inline__ int
tp_load_nothing(void *self, const struct tp_source *source)
{
    (void)self;
    (void)source;
    return TP_OK;
}

/* An assessor's save and load, when its verdicts depend on nothing that would
 * have to be saved.  Always TP_OK. */

static __inline__ int
tp_assessor_save_nothing(void *self, const struct tp_history *const *living,
                         size_t n, const struct tp_sink *sink)
{
    (void)self;
    (void)living;
    (void)n;
    (void)sink;
    return TP_OK;
}

static __inline__ int
tp_assessor_load_nothing(void *self, const struct tp_history *const *living,
                         size_t n, const struct tp_source *source)
{
    (void)self;
    (void)living;
    (void)n;
    (void)source;
    return TP_OK;
}

#endif

/* SPDX-License-Identifier: MIT */
#include "plugin/state.h"

#include "core/err.h"
#include "core/pack.h"
#include "plugin/instance.h"

#include <inttypes.h>
#include <string.h>

#define WORD sizeof(uint64_t)

/* ---- the sink ---- */

static void
sink_u64(void *ctx, uint64_t value)
{
    pack_u64(ctx, value);
}

static void
sink_f64(void *ctx, double value)
{
    pack_f64(ctx, value);
}

static void
sink_f64s(void *ctx, const double *values, size_t n)
{
    pack_f64s(ctx, values, n);
}

static void
sink_bytes(void *ctx, const void *bytes, size_t n)
{
    buf_add(ctx, bytes, n);
}

struct tp_sink
state_sink(struct buf *out)
{
    return (struct tp_sink){
        ._struct_size = sizeof(struct tp_sink),
        .ctx = out,
        .u64 = sink_u64,
        .f64 = sink_f64,
        .f64s = sink_f64s,
        .bytes = sink_bytes,
    };
}

/* ---- the source ---- */

static size_t
source_left(void *ctx)
{
    const struct unpack *u = ctx;

    return u->at == u->end ? 0 : (size_t)(u->end - u->at);
}

/* Whether n things of `size` bytes are left to be read. */
static bool
has(struct unpack *u, size_t n, size_t size)
{
    if (!u->failed && n <= source_left(u) / size)
        return true;
    unpack_fail(u);
    return false;
}

static int
source_u64(void *ctx, uint64_t *out)
{
    struct unpack *u = ctx;

    *out = unpack_u64(u);
    return u->failed ? TP_ERR : TP_OK;
}

static int
source_f64(void *ctx, double *out)
{
    struct unpack *u = ctx;

    *out = unpack_f64(u);
    return u->failed ? TP_ERR : TP_OK;
}

static int
source_f64s(void *ctx, double *out, size_t n)
{
    struct unpack *u = ctx;
    bool there = has(u, n, WORD);

    for (size_t i = 0; i < n; i++)
        out[i] = there ? unpack_f64(u) : 0;
    return there ? TP_OK : TP_ERR;
}

static int
source_bytes(void *ctx, void *out, size_t n)
{
    struct unpack *u = ctx;

    if (!has(u, n, 1)) {
        memset(out, 0, n);
        return TP_ERR;
    }
    if (n > 0) {
        memcpy(out, u->at, n);
        u->at += n;
    }
    return TP_OK;
}

struct tp_source
state_source(struct unpack *from)
{
    return (struct tp_source){
        ._struct_size = sizeof(struct tp_source),
        .ctx = from,
        .u64 = source_u64,
        .f64 = source_f64,
        .f64s = source_f64s,
        .bytes = source_bytes,
        .left = source_left,
    };
}

/* ---- around the calls ---- */

size_t
state_begin(const struct instance *i, struct buf *out)
{
    pack_text(out, i->title);
    pack_u64(out, i->plugin->version);
    pack_u64(out, i->seed);
    pack_u64(out, 0); /* filled in when the length is known */
    return out->len;
}

int
state_end(struct instance *i, size_t begun, int rc, struct buf *out,
          struct err *err)
{
    uint64_t length = out->len - begun;

    if (instance_leave(i, "save", rc, TP_OK, err) != 0)
        return -1;
    if (buf_check(out, "what a snapshot holds", err) != 0)
        return err_place(err, "%s: save", i->title);
    out->len = begun - WORD;
    pack_u64(out, length); /* there is room */
    out->len = begun + (size_t)length;
    return 0;
}

int
state_open(const struct instance *i, struct unpack *from, struct unpack *own,
           struct err *err)
{
    const char *title = unpack_text(from), *bytes;
    uint64_t version = unpack_u64(from), seed = unpack_u64(from);
    size_t len;

    bytes = unpack_bytes(from, &len);
    if (from->failed || title == NULL)
        return err_set(err, ERR_PLUGIN,
                       "%s: its part of the snapshot is incomplete", i->title);
    if (strcmp(title, i->title) != 0 || version != i->plugin->version ||
        seed != i->seed)
        return err_set(
            err, ERR_PLUGIN,
            "%s: the snapshot holds %.80s, version %" PRIu64 ", seed %" PRIu64
            "; expected version %" PRIu32 ", seed %" PRIu64,
            i->title, title, version, seed, i->plugin->version, i->seed);
    *own = unpack_from(bytes, len);
    return 0;
}

int
state_close(struct instance *i, const struct unpack *own, int rc,
            struct err *err)
{
    if (instance_leave(i, "load", rc, TP_OK, err) != 0)
        return -1;
    if (own->failed)
        return err_set(err, ERR_PLUGIN,
                       "%s: load: it read more than it had saved and went on",
                       i->title);
    if (own->at != own->end)
        return err_set(err, ERR_PLUGIN,
                       "%s: load: it left %zu bytes of what it had saved",
                       i->title, (size_t)(own->end - own->at));
    return 0;
}

int
state_save(struct instance *i,
           int (*save)(void *self, const struct tp_sink *sink), struct buf *out,
           struct err *err)
{
    const struct tp_sink sink = state_sink(out);
    size_t begun = state_begin(i, out);

    instance_enter(i);
    return state_end(i, begun, save(i->self, &sink), out, err);
}

int
state_load(struct instance *i,
           int (*load)(void *self, const struct tp_source *source),
           struct unpack *from, struct err *err)
{
    struct tp_source source;
    struct unpack own;

    if (state_open(i, from, &own, err) != 0)
        return -1;
    source = state_source(&own);
    instance_enter(i);
    return state_close(i, &own, load(i->self, &source), err);
}

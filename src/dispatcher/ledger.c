/* SPDX-License-Identifier: MIT */
#include "dispatcher/ledger.h"

#include "command.h"
#include "core/buf.h"
#include "core/pack.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void *
number_pointer(uint64_t n)
{
    return (void *)(uintptr_t)n;
}

static uint64_t
pointer_number(const void *p)
{
    return (uintptr_t)p;
}

void
ledger_fini(struct ledger *l)
{
    map_fini(&l->jobs);
    map_fini(&l->imports);
}

int
ledger_ran(struct ledger *l, const char *job, uint64_t id)
{
    size_t len = strlen(job);

    if (map_get(&l->jobs, job, len) != NULL || l->jobs.count >= LEDGER_MAX ||
        id >= UINTPTR_MAX)
        return 0;
    return map_put(&l->jobs, job, len, number_pointer(id + 1));
}

bool
ledger_find(const struct ledger *l, const char *job, uint64_t *id)
{
    const void *value = map_get(&l->jobs, job, strlen(job));

    if (value != NULL)
        *id = pointer_number(value) - 1;
    return value != NULL;
}

/* ---- one spelling of an imported result, by which it is counted ---- */

static int
by_key(const void *va, const void *vb)
{
    const struct jval_iter *a = va, *b = vb;

    return strcmp(a->key, b->key);
}

static void
write_object(struct jval v, struct buf *out)
{
    size_t n = jval_count(v), i = 0;
    struct jval_iter *members = calloc(n + 1, sizeof *members);
    struct jval_iter it = jval_iter(v);

    out->failed = out->failed || members == NULL;
    while (members != NULL && i < n && jval_next(&it))
        members[i++] = it;
    if (i > 1)
        qsort(members, i, sizeof *members, by_key);
    buf_add_char(out, '{');
    for (size_t k = 0; k < i; k++) {
        json_write_string(out, members[k].key, strlen(members[k].key));
        buf_add_char(out, ':');
        ledger_write_parameters(members[k].value, out);
        buf_add_char(out, ',');
    }
    buf_add_char(out, '}');
    free(members);
}

/* Writes a number as a double, as JavaScript has no other; -0 as 0. */
static void
write_number(double number, struct buf *out)
{
    json_write_double(out, number == 0 ? 0 : number);
}

void
ledger_write_parameters(struct jval v, struct buf *out)
{
    double number;

    if (jval_number(v, &number)) {
        write_number(number, out);
    } else if (jval_type(v) == JSON_OBJECT) {
        write_object(v, out);
    } else if (jval_type(v) == JSON_ARRAY) {
        buf_add_char(out, '[');
        for (size_t i = 0; i < jval_count(v); i++) {
            ledger_write_parameters(jval_at(v, i), out);
            buf_add_char(out, ',');
        }
        buf_add_char(out, ']');
    } else {
        jval_write(v, out); /* a text, true, false, null */
    }
}

static void
write_key(struct jval entry, struct buf *out)
{
    struct jval v;
    const char *problem;
    double number;

    if (jval_get(entry, "parameter", &v))
        ledger_write_parameters(v, out);
    buf_add_char(out, '=');
    if (!jval_get(entry, "value", &v))
        return;
    if (metric_read_value(v, &number, &problem))
        write_number(number, out);
    else
        ledger_write_parameters(v, out);
}

/* FNV-1a, going on from h. */
static uint64_t
hash(const struct buf *text, uint64_t h)
{
    for (size_t i = 0; i < text->len; i++)
        h = (h ^ (unsigned char)text->data[i]) * 0x100000001b3u;
    return h;
}

void
ledger_write_key(struct jval entry, struct buf *out)
{
    struct buf text;

    buf_init(&text, SIZE_MAX / 2);
    write_key(entry, &text);
    if (text.failed)
        out->failed = true;
    else if (text.len <= LEDGER_KEY_MAX)
        buf_add(out, text.data, text.len);
    else
        buf_printf(out, "#%zu:%016" PRIx64 "%016" PRIx64, text.len,
                   hash(&text, 0xcbf29ce484222325u),
                   hash(&text, 0x9e3779b97f4a7c15u));
    buf_fini(&text);
}

/* ---- imports ---- */

int
ledger_import(struct ledger *l, const struct buf *key)
{
    uint64_t n = ledger_imports(l, key);

    if (key->failed)
        return -1;
    if (n == 0 && l->imports.count >= LEDGER_MAX)
        return 0;
    return map_put(&l->imports, key->data, key->len, number_pointer(n + 1));
}

uint64_t
ledger_imports(const struct ledger *l, const struct buf *key)
{
    if (key->failed)
        return 0;
    return pointer_number(map_get(&l->imports, key->data, key->len));
}

/* ---- packed ---- */

static void
save_map(const struct map *m, struct buf *out)
{
    const struct map_slot **slots = map_sorted(m);

    pack_u64(out, m->count);
    for (size_t i = 0; slots != NULL && i < m->count; i++) {
        pack_bytes(out, slots[i]->key, slots[i]->len);
        pack_u64(out, pointer_number(slots[i]->value));
    }
    out->failed = out->failed || slots == NULL;
    free(slots);
}

static void
load_map(struct map *m, struct unpack *in)
{
    size_t n = unpack_count(in, 2 * sizeof(uint64_t)), len;

    for (size_t i = 0; i < n && !in->failed; i++) {
        const char *key = unpack_bytes(in, &len);
        uint64_t value = unpack_u64(in);

        if (in->failed || len == 0 || value == 0 || value > UINTPTR_MAX ||
            map_get(m, key, len) != NULL ||
            map_put(m, key, len, number_pointer(value)) != 0)
            unpack_fail(in);
    }
}

void
ledger_save(const struct ledger *l, struct buf *out)
{
    save_map(&l->jobs, out);
    save_map(&l->imports, out);
}

int
ledger_load(struct ledger *l, struct unpack *in)
{
    load_map(&l->jobs, in);
    load_map(&l->imports, in);
    return in->failed ? -1 : 0;
}

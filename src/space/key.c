/* SPDX-License-Identifier: MIT */
/* DESIGN: a hash of the parameters as the JSON value that a trial receives,
 * without writing it: scalars by type and bits, arrays in order, objects as
 * the sum over their members, so that the order of keys does not matter.  Two
 * lanes of 64 bits, mixed with different constants. */
#include "space/dims.h"
#include "space/space.h"

#include <string.h>

struct key {
    uint64_t a, b;
};

enum tag {
    TAG_NULL = 1,
    TAG_BOOL,
    TAG_INT,
    TAG_UINT,
    TAG_DOUBLE,
    TAG_STRING,
    TAG_ARRAY,
    TAG_OBJECT
};

static void
absorb(struct key *k, uint64_t word)
{
    k->a = (k->a ^ word) * 0xff51afd7ed558ccdu;
    k->a = (k->a ^ k->a >> 32) * 0xc4ceb9fe1a85ec53u;
    k->a ^= k->a >> 29;
    k->b = (k->b + word) * 0xbf58476d1ce4e5b9u;
    k->b = (k->b ^ k->b >> 31) * 0x94d049bb133111ebu;
    k->b ^= k->b >> 30;
}

static struct key
start(enum tag tag)
{
    struct key k = {0x9e3779b97f4a7c15u, 0x6a09e667f3bcc909u};

    absorb(&k, (uint64_t)tag);
    return k;
}

static struct key
of_word(enum tag tag, uint64_t word)
{
    struct key k = start(tag);

    absorb(&k, word);
    return k;
}

static struct key
of_double(double v)
{
    uint64_t bits;

    memcpy(&bits, &v, sizeof bits);
    return of_word(TAG_DOUBLE, bits);
}

static struct key
of_string(const char *text, size_t len)
{
    struct key k = of_word(TAG_STRING, len);

    for (size_t at = 0; at < len; at += sizeof(uint64_t)) {
        size_t n = len - at < sizeof(uint64_t) ? len - at : sizeof(uint64_t);
        uint64_t word = 0;

        memcpy(&word, text + at, n);
        absorb(&k, word);
    }
    return k;
}

/* Adds the member NAME: VALUE to an object. */
static void
add_member(struct key *object, const char *name, struct key value)
{
    struct key k = of_string(name, strlen(name));

    absorb(&k, value.a);
    absorb(&k, value.b);
    object->a += k.a;
    object->b += k.b;
}

static struct key of_value(struct jval v);

static struct key
of_object(struct jval v)
{
    struct jval_iter it = jval_iter(v);
    struct key k = start(TAG_OBJECT);

    while (jval_next(&it))
        add_member(&k, it.key, of_value(it.value));
    return k;
}

static struct key
of_array(struct jval v)
{
    struct key k = of_word(TAG_ARRAY, jval_count(v));

    for (size_t i = 0; i < jval_count(v); i++) {
        struct key element = of_value(jval_at(v, i));

        absorb(&k, element.a);
        absorb(&k, element.b);
    }
    return k;
}

static struct key
of_value(struct jval v)
{
    const char *text = "";
    uint64_t word = 0;
    bool truth = false;
    int64_t i = 0;
    double d = 0;
    size_t len = 0;

    switch (jval_type(v)) {
    case JSON_NULL:
        break;
    case JSON_BOOL:
        (void)jval_bool(v, &truth);
        return of_word(TAG_BOOL, truth);
    case JSON_INT:
        (void)jval_int(v, &i);
        return of_word(TAG_INT, (uint64_t)i);
    case JSON_UINT:
        (void)jval_uint(v, &word);
        return of_word(TAG_UINT, word);
    case JSON_DOUBLE:
        (void)jval_double(v, &d);
        return of_double(d);
    case JSON_STRING:
        (void)jval_string(v, &text, &len);
        return of_string(text, len);
    case JSON_ARRAY:
        return of_array(v);
    case JSON_OBJECT:
        return of_object(v);
    }
    return start(TAG_NULL);
}

static struct key of_dim(const struct space *s, const double *x, size_t i);

static void
add_dims(struct key *object, const struct space *s, const double *x,
         size_t from, size_t to)
{
    for (size_t i = from; i < to; i = s->dim[i].end)
        add_member(object, s->dim[i].key, of_dim(s, x, i));
}

static struct key
of_choice(const struct space *s, const double *x, size_t i)
{
    const struct dim *d = &s->dim[i];
    size_t e = (size_t)x[i];
    struct jval name, element = jval_at(d->list, e);
    struct key k;

    if (!d->nested)
        return of_value(element);
    k = start(TAG_OBJECT);
    if (jval_get(element, "_name", &name))
        add_member(&k, "_name", of_value(name));
    add_dims(&k, s, x, d->subs[e], d->subs[e + 1]);
    return k;
}

static struct key
of_dim(const struct space *s, const double *x, size_t i)
{
    const struct tp_dim *d = &s->tp[i];

    if (d->kind == TP_CHOICE)
        return of_choice(s, x, i);
    if (d->kind == TP_RANDINT)
        return of_word(TAG_INT, (uint64_t)(d->offset + (int64_t)x[i]));
    return of_double(dim_value(s, i, x[i]));
}

void
space_key(const struct space *s, const double *x, uint64_t key[2])
{
    struct key k = start(TAG_OBJECT);

    if (s->n == 1 && (s->tp[0].flags & TP_DIM_WHOLE))
        k = of_choice(s, x, 0);
    else
        add_dims(&k, s, x, 0, s->n);
    key[0] = k.a;
    key[1] = k.b;
}

/* SPDX-License-Identifier: MIT */
#include "tpe/twins.h"

#include "tunepipe/shell.h"

#include <math.h>
#include <string.h>

/* The finaliser of MurmurHash3 (Appleby, public domain). */
static uint64_t
mix(uint64_t h)
{
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdu;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53u;
    return h ^ (h >> 33);
}

static uint64_t
add(uint64_t h, size_t i, double at)
{
    double v = isnan(at) ? -1 : at + 0.0; /* no -0 */
    uint64_t bits;

    memcpy(&bits, &v, sizeof bits);
    return mix(h ^ mix(bits + i));
}

void
tpe_twins_key(const double *at, size_t n, uint64_t key[2])
{
    uint64_t h = 1;

    for (size_t i = 0; i < n; i++)
        h = add(h, i, at[i]);
    key[0] = h;
    key[1] = 0;
}

void
tpe_twins_key_of_places(const struct place *at, size_t n, uint64_t key[2])
{
    uint64_t h = 1;

    for (size_t i = 0; i < n; i++)
        h = add(h, i, at[i].at);
    key[0] = h;
    key[1] = 0;
}

int
tpe_twins_add(struct keyset *twins, const double *at, size_t n)
{
    uint64_t key[2];

    tpe_twins_key(at, n, key);
    return keyset_add(twins, key, NULL) < 0 ? -1 : 0;
}

void
tpe_twins_save(const struct keyset *twins, const struct tp_sink *sink)
{
    tp_put_u64(sink, twins->n);
    for (size_t i = 0; i < twins->n; i++)
        tp_put_u64(sink, twins->keys[i][0]);
}

const char *
tpe_twins_load(struct keyset *twins, const struct tp_source *source)
{
    uint64_t n = 0, key[2] = {0, 0};

    if (tp_get_u64(source, &n) != TP_OK || n > tp_left(source) / sizeof *key)
        return "the number of places is damaged";
    while (n-- > 0) {
        int rc;

        tp_get_u64(source, &key[0]);
        rc = keyset_add(twins, key, NULL);
        if (rc != 1)
            return rc == 0 ? "a place comes twice" : "out of memory";
    }
    return NULL;
}

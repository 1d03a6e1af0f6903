/* SPDX-License-Identifier: MIT */
#include "core/idset.h"

#include "core/grow.h"
#include "core/pack.h"

#include <stdlib.h>
#include <string.h>

void
idset_fini(struct idset *s)
{
    free(s->words);
    *s = (struct idset){0};
}

bool
idset_has(const struct idset *s, uint64_t id)
{
    return id / 64 < s->n_words && (s->words[id / 64] >> (id % 64) & 1);
}

int
idset_add(struct idset *s, uint64_t id)
{
    if (id / 64 >= s->n_words) {
        size_t n = (size_t)(id / 64) + 1;

        if (n < s->n_words * 2)
            n = s->n_words * 2;
        if (grow_to(&s->words, n, sizeof *s->words) != 0)
            return -1;
        memset(s->words + s->n_words, 0, (n - s->n_words) * sizeof *s->words);
        s->n_words = n;
    }
    s->words[id / 64] |= (uint64_t)1 << (id % 64);
    return 0;
}

uint64_t
idset_take_first(struct idset *s)
{
    size_t i = 0;
    uint64_t bit;

    while (s->words[i] == 0)
        i++;
    bit = (uint64_t)__builtin_ctzll(s->words[i]);
    s->words[i] &= s->words[i] - 1;
    return i * 64 + bit;
}

uint64_t
idset_count(const struct idset *s)
{
    uint64_t n = 0;

    for (size_t i = 0; i < s->n_words; i++)
        n += (uint64_t)__builtin_popcountll(s->words[i]);
    return n;
}

void
idset_save(const struct idset *s, struct buf *out)
{
    size_t n = s->n_words;

    while (n > 0 && s->words[n - 1] == 0)
        n--;
    pack_u64(out, n);
    for (size_t i = 0; i < n; i++)
        pack_u64(out, s->words[i]);
}

int
idset_load(struct idset *s, struct unpack *in)
{
    size_t n = unpack_count(in, sizeof *s->words);

    if (n > 0 && (s->words = malloc(n * sizeof *s->words)) == NULL)
        unpack_fail(in);
    if (in->failed)
        return -1;
    s->n_words = n;
    for (size_t i = 0; i < n; i++)
        s->words[i] = unpack_u64(in);
    return 0;
}

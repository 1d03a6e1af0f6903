/* SPDX-License-Identifier: MIT */
#include "tpe/twins.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_MIN 64

void
tpe_twins_fini(struct twins *t)
{
    free(t->slots);
    free(t->left);
    *t = (struct twins){.slots = NULL};
}

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

uint64_t
tpe_twins_key(const double *at, size_t n)
{
    uint64_t h = 1;

    for (size_t i = 0; i < n; i++)
        h = add(h, i, at[i]);
    return h != 0 ? h : 1;
}

uint64_t
tpe_twins_key_of_places(const struct place *at, size_t n)
{
    uint64_t h = 1;

    for (size_t i = 0; i < n; i++)
        h = add(h, i, at[i].at);
    return h != 0 ? h : 1;
}

static size_t
find(const uint64_t *slots, size_t n, uint64_t key)
{
    size_t i = (size_t)key & (n - 1);

    while (slots[i] != 0 && slots[i] != key)
        i = (i + 1) & (n - 1);
    return i;
}

static int
grow(struct twins *t)
{
    size_t n = t->n_slots == 0 ? SLOTS_MIN : t->n_slots * 2;
    uint64_t *slots = calloc(n, sizeof *slots);

    if (slots == NULL)
        return -1;
    for (size_t i = 0; i < t->n_slots; i++)
        if (t->slots[i] != 0)
            slots[find(slots, n, t->slots[i])] = t->slots[i];
    free(t->slots);
    t->slots = slots;
    t->n_slots = n;
    return 0;
}

int
tpe_twins_add(struct twins *t, uint64_t key)
{
    size_t i;

    if (t->count >= t->n_slots / 2 && grow(t) != 0)
        return -1;
    i = find(t->slots, t->n_slots, key);
    t->count += t->slots[i] == 0;
    t->slots[i] = key;
    return 0;
}

int
tpe_twins_leave(struct twins *t, uint64_t key)
{
    if (t->n_left == t->left_room) {
        size_t room = t->left_room < 16 ? 16 : t->left_room * 2;
        uint64_t *left = realloc(t->left, room * sizeof *left);

        if (left == NULL)
            return -1;
        t->left = left;
        t->left_room = room;
    }
    if (tpe_twins_add(t, key) != 0)
        return -1;
    t->left[t->n_left++] = key;
    return 0;
}

int
tpe_twins_has(const struct twins *t, uint64_t key)
{
    return t->n_slots > 0 && t->slots[find(t->slots, t->n_slots, key)] == key;
}

/* SPDX-License-Identifier: MIT */
/* DESIGN.  Saved are the keys in the order of their slots, beginning behind a
 * free one: entered in that order they find the same slots again. */
#include "grid/seen.h"

#include "tunepipe/plugin.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS_MIN 64

void
seen_fini(struct seen *s)
{
    free(s->slots);
    *s = (struct seen){0};
}

static int
is_used(const uint64_t slot[2])
{
    return (slot[0] | slot[1]) != 0;
}

/* Where the key is, or the free slot where it belongs. */
static uint64_t *
find(uint64_t (*slots)[2], size_t n_slots, const uint64_t key[2])
{
    size_t i = (size_t)key[0] & (n_slots - 1);

    while (is_used(slots[i]) &&
           (slots[i][0] != key[0] || slots[i][1] != key[1]))
        i = (i + 1) & (n_slots - 1);
    return slots[i];
}

static int
grow(struct seen *s)
{
    size_t n = s->n_slots == 0 ? SLOTS_MIN : s->n_slots * 2;
    uint64_t(*slots)[2] = calloc(n, sizeof *slots);

    if (slots == NULL)
        return -1;
    for (size_t i = 0; i < s->n_slots; i++)
        if (is_used(s->slots[i]))
            memcpy(find(slots, n, s->slots[i]), s->slots[i], sizeof *slots);
    free(s->slots);
    s->slots = slots;
    s->n_slots = n;
    return 0;
}

int
seen_add(struct seen *s, const uint64_t key[2])
{
    uint64_t *slot;

    if (s->count * 2 >= s->n_slots && grow(s) != 0)
        return -1;
    slot = find(s->slots, s->n_slots, key);
    if (is_used(slot))
        return 0;
    memcpy(slot, key, sizeof *s->slots);
    s->count++;
    return 1;
}

void
seen_save(const struct seen *s, const struct tp_sink *sink)
{
    size_t gap = 0;

    sink->u64(sink->ctx, s->n_slots);
    sink->u64(sink->ctx, s->count);
    while (gap < s->n_slots && is_used(s->slots[gap]))
        gap++;
    for (size_t i = 1; i < s->n_slots; i++) {
        const uint64_t *slot = s->slots[(gap + i) & (s->n_slots - 1)];

        if (!is_used(slot))
            continue;
        sink->u64(sink->ctx, slot[0]);
        sink->u64(sink->ctx, slot[1]);
    }
}

/* Whether seen_add() could have made it so. */
static int
is_size(uint64_t n_slots, uint64_t count)
{
    if (n_slots == 0)
        return count == 0;
    return n_slots >= SLOTS_MIN && (n_slots & (n_slots - 1)) == 0 &&
           count <= n_slots / 2 &&
           (n_slots == SLOTS_MIN || count >= n_slots / 4);
}

const char *
seen_load(struct seen *s, const struct tp_source *source)
{
    uint64_t n_slots, count, key[2];

    if (source->u64(source->ctx, &n_slots) != TP_OK ||
        source->u64(source->ctx, &count) != TP_OK ||
        count > source->left(source->ctx) / sizeof key ||
        !is_size(n_slots, count))
        return "the number of points that were tried is damaged";
    if (n_slots == 0)
        return NULL;
    s->slots = calloc((size_t)n_slots, sizeof *s->slots);
    if (s->slots == NULL)
        return "out of memory";
    s->n_slots = (size_t)n_slots;
    for (; s->count < count; s->count++) {
        uint64_t *slot;

        source->u64(source->ctx, &key[0]);
        source->u64(source->ctx, &key[1]);
        slot = find(s->slots, s->n_slots, key);
        if (is_used(slot) || !is_used(key))
            return "the points that were tried are damaged";
        memcpy(slot, key, sizeof key);
    }
    return NULL;
}

/* SPDX-License-Identifier: MIT */
#include "bands/rounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_MIN 16

struct rank {
    double loss;
    uint64_t turn;
    size_t slot;
};

int
bands_reserve(struct bands_bracket *k, size_t n, size_t n_dims)
{
    size_t room = k->room == 0 ? ROOM_MIN : k->room * 2;
    struct bands_slot *slots;
    double *x;

    if (n <= k->room)
        return 0;
    room = room < n ? n : room;
    slots = realloc(k->slots, room * sizeof *slots);
    if (slots == NULL)
        return -1;
    k->slots = slots;
    x = realloc(k->x, (room * n_dims + 1) * sizeof *x);
    if (x == NULL)
        return -1;
    k->x = x;
    k->room = room;
    return 0;
}

void
bands_bracket_free(struct bands_bracket *k)
{
    if (k == NULL)
        return;
    free(k->slots);
    free(k->x);
    free(k);
}

int
bands_add(struct bands *b, struct bands_bracket *k)
{
    if (b->n_open == b->open_room) {
        size_t room = b->open_room == 0 ? ROOM_MIN : b->open_room * 2;
        struct bands_bracket **open = realloc(b->open, room * sizeof *open);

        if (open == NULL) {
            bands_bracket_free(k);
            return -1;
        }
        b->open = open;
        b->open_room = room;
    }
    b->open[b->n_open++] = k;
    return 0;
}

int
bands_open(struct bands *b)
{
    const struct bands_table *t = &b->options.table;
    struct bands_bracket *k = calloc(1, sizeof *k);

    if (k == NULL)
        return -1;
    k->seq = b->next_seq;
    k->s = t->s_max - (unsigned)(k->seq % (t->s_max + 1));
    k->first = b->next_n;
    k->ready = b->next_ready;
    k->size = bands_table_count(t, k->s, 0);
    if (bands_add(b, k) != 0)
        return -1;
    b->next_seq++;
    b->begun++;
    b->next_ready++;
    b->next_n += k->size;
    return 0;
}

size_t
bands_out_find(const struct bands *b, uint64_t id)
{
    size_t low = 0, high = b->n_out;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (b->out[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int
bands_out_add(struct bands *b, uint64_t id, struct bands_bracket *k,
              size_t slot)
{
    size_t i = bands_out_find(b, id);

    if (b->n_out == b->out_room) {
        size_t room = b->out_room == 0 ? ROOM_MIN : b->out_room * 2;
        struct bands_out *out = realloc(b->out, room * sizeof *out);

        if (out == NULL)
            return -1;
        b->out = out;
        b->out_room = room;
    }
    memmove(&b->out[i + 1], &b->out[i], (b->n_out - i) * sizeof *b->out);
    b->out[i] = (struct bands_out){id, k, slot};
    b->n_out++;
    return 0;
}

/* Its trials are heard of no more. */
static void
forget_trials(struct bands *b, const struct bands_bracket *k)
{
    size_t n = 0;

    for (size_t i = 0; i < b->n_out; i++)
        if (b->out[i].bracket != k)
            b->out[n++] = b->out[i];
    b->n_out = n;
}

void
bands_release_stale(struct bands *b)
{
    for (size_t i = 0; i < b->n_stale; i++)
        b->options.release(b->options.ctx, b->stale[i]);
    b->n_stale = 0;
}

int
bands_stale_reserve(struct bands *b, size_t more)
{
    uint64_t *stale =
        realloc(b->stale, (b->n_stale + more + 1) * sizeof *stale);

    if (stale == NULL)
        return -1;
    b->stale = stale;
    return 0;
}

static int
compare(const void *va, const void *vb)
{
    const struct rank *a = va, *b = vb;
    int a_is_nan = isnan(a->loss) != 0, b_is_nan = isnan(b->loss) != 0;

    if (a_is_nan != b_is_nan)
        return a_is_nan - b_is_nan;
    if (!a_is_nan && a->loss != b->loss)
        return a->loss < b->loss ? -1 : 1;
    return a->turn < b->turn ? -1 : 1;
}

/* The best first.  NULL: out of memory. */
static struct rank *
ranking(const struct bands *b, const struct bands_bracket *k)
{
    struct rank *ranks = calloc(k->n_reported + 1, sizeof *ranks);
    size_t n = 0;

    if (ranks == NULL)
        return NULL;
    for (size_t i = 0; i < k->n_given; i++) {
        const struct bands_slot *slot = &k->slots[i];

        if (slot->flags & BANDS_REPORTED)
            ranks[n++] =
                (struct rank){b->options.maximize ? -slot->value : slot->value,
                              slot->turn, i};
    }
    qsort(ranks, n, sizeof *ranks, compare);
    return ranks;
}

/* What goes on, into the empty `to`. */
static void
promote(const struct bands *b, const struct bands_bracket *k,
        const struct rank *ranks, struct bands_bracket *to)
{
    for (size_t i = 0; i < to->size; i++) {
        const struct bands_slot *from = &k->slots[ranks[i].slot];

        to->slots[i] = (struct bands_slot){
            .id = BANDS_NO_ID,
            .n = from->n,
            .from = from->id,
            .rank = i + 1,
            .of = k->n_reported,
            .before = from->value,
            .cut = k->slots[ranks[to->size - 1].slot].value,
        };
        memcpy(to->x + i * b->n_dims, k->x + ranks[i].slot * b->n_dims,
               b->n_dims * sizeof *to->x);
    }
}

/* The one whose end is being told is released with the next call. */
static void
release(struct bands *b, uint64_t id)
{
    if (id == b->ending)
        b->stale[b->n_stale++] = id;
    else
        b->options.release(b->options.ctx, id);
}

/* The checkpoints of all that do not go on. */
static void
release_rest(struct bands *b, const struct bands_bracket *k,
             const struct rank *ranks, size_t n_promoted)
{
    for (size_t i = 0; i < n_promoted; i++)
        k->slots[ranks[i].slot].flags = 0;
    for (size_t i = 0; i < k->n_given; i++)
        if (k->slots[i].flags != 0)
            release(b, k->slots[i].id);
}

static void
close_bracket(struct bands *b, size_t i)
{
    bands_bracket_free(b->open[i]);
    b->n_open--;
    memmove(&b->open[i], &b->open[i + 1],
            (b->n_open - i) * sizeof(struct bands_bracket *));
}

int
bands_advance(struct bands *b, size_t i)
{
    struct bands_bracket *k = b->open[i], next = *k;
    struct rank *ranks;

    if (k->round == k->s) {
        forget_trials(b, k);
        close_bracket(b, i);
        return 0;
    }
    next.round++;
    next.size = bands_table_count(&b->options.table, k->s, next.round);
    next.size = next.size < k->n_reported ? next.size : k->n_reported;
    next.ready = b->next_ready;
    next.n_given = next.n_ended = next.n_reported = next.room = 0;
    next.slots = NULL;
    next.x = NULL;
    ranks = ranking(b, k);
    if (ranks == NULL || bands_stale_reserve(b, 1) != 0 ||
        bands_reserve(&next, next.size, b->n_dims) != 0) {
        free(ranks);
        free(next.slots);
        return -1;
    }
    promote(b, k, ranks, &next);
    release_rest(b, k, ranks, next.size);
    free(ranks);
    forget_trials(b, k);
    free(k->slots);
    free(k->x);
    *k = next;
    if (k->size == 0)
        close_bracket(b, i);
    else
        b->next_ready++;
    return 0;
}

/* SPDX-License-Identifier: MIT */
#include "bands/state.h"

#include "bands/bands.h"
#include "tunepipe/shell.h"

#include <stdlib.h>

#define N_MEMBERS 11 /* of a slot, 8 bytes each */
#define OUT_OF_MEMORY "out of memory"

/* Of the first round what was given out, of others all. */
static size_t
slots_of(const struct bands_bracket *k)
{
    return k->round == 0 ? k->n_given : (size_t)k->size;
}

static void
save_slot(const struct bands_slot *slot, const struct tp_sink *sink)
{
    const uint64_t whole[] = {slot->id,   slot->n,    slot->flags, slot->turn,
                              slot->step, slot->from, slot->rank,  slot->of};
    const double others[] = {slot->value, slot->before, slot->cut};

    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        tp_put_u64(sink, whole[i]);
    tp_put_f64s(sink, others, sizeof others / sizeof *others);
}

static void
save_bracket(const struct bands *b, const struct bands_bracket *k,
             const struct tp_sink *sink)
{
    const uint64_t head[] = {k->seq,   k->first, k->ready,
                             k->round, k->size,  k->n_given};

    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        tp_put_u64(sink, head[i]);
    for (size_t i = 0; i < slots_of(k); i++)
        save_slot(&k->slots[i], sink);
    tp_put_f64s(sink, k->x, slots_of(k) * b->n_dims);
}

void
bands_save(const struct bands *b, const struct tp_sink *sink)
{
    const uint64_t head[] = {b->next_seq, b->next_n, b->next_ready, b->begun,
                             b->last_id,  b->again,  b->n_stale};

    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        tp_put_u64(sink, head[i]);
    for (size_t i = 0; i < b->n_stale; i++)
        tp_put_u64(sink, b->stale[i]);
    tp_put_u64(sink, b->n_open);
    for (size_t i = 0; i < b->n_open; i++)
        save_bracket(b, b->open[i], sink);
}

static int
read_all(const struct tp_source *source, uint64_t *const *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (tp_get_u64(source, out[i]) != TP_OK)
            return -1;
    return 0;
}

static const char *
load_slot(const struct bands *b, struct bands_bracket *k, size_t i,
          const struct tp_source *source)
{
    struct bands_slot *slot = &k->slots[i];
    uint64_t *whole[] = {&slot->id,   &slot->n,    &slot->flags, &slot->turn,
                         &slot->step, &slot->from, &slot->rank,  &slot->of};
    bool is_given = i < k->n_given;

    if (read_all(source, whole, sizeof whole / sizeof *whole) != 0 ||
        tp_get_f64(source, &slot->value) != TP_OK ||
        tp_get_f64(source, &slot->before) != TP_OK ||
        tp_get_f64(source, &slot->cut) != TP_OK)
        return "a saved trial is cut off";
    if (is_given != (slot->id != BANDS_NO_ID) || slot->n >= b->next_n ||
        slot->flags > 2 * BANDS_ENDED - 1 || (!is_given && slot->flags != 0) ||
        (k->round == 0) != (slot->from == BANDS_NO_ID))
        return "a saved trial is damaged";
    k->n_ended += (slot->flags & BANDS_ENDED) != 0;
    k->n_reported += (slot->flags & BANDS_REPORTED) != 0;
    return NULL;
}

static const char *
load_slots(struct bands *b, struct bands_bracket *k, const struct prior *prior,
           const struct tp_source *source)
{
    size_t n = slots_of(k);
    const char *wrong = NULL;

    if (n > tp_left(source) / (8 * (N_MEMBERS + b->n_dims)))
        return "a saved bracket is cut off";
    if (bands_reserve(k, n, b->n_dims) != 0)
        return OUT_OF_MEMORY;
    for (size_t i = 0; wrong == NULL && i < n; i++)
        wrong = load_slot(b, k, i, source);
    if (wrong != NULL)
        return wrong;
    if (tp_get_f64s(source, k->x, n * b->n_dims) != TP_OK)
        return "a saved bracket is cut off";
    for (size_t i = 0; i < n; i++) {
        const struct bands_slot *slot = &k->slots[i];

        if (!prior_holds(prior, k->x + i * b->n_dims))
            return "a saved trial is none of this search space";
        if ((slot->flags & BANDS_REPORTED) && slot->turn >= k->n_reported)
            return "a saved trial is damaged";
        if (i < k->n_given) {
            size_t at = bands_out_find(b, slot->id);

            if (at < b->n_out && b->out[at].id == slot->id)
                return "a saved trial comes twice";
            if (bands_out_add(b, slot->id, k, i) != 0)
                return OUT_OF_MEMORY;
        }
    }
    return NULL;
}

static bool
is_sound(const struct bands *b, const struct bands_bracket *k)
{
    const struct bands_table *t = &b->options.table;
    const struct bands_bracket *before =
        b->n_open > 1 ? b->open[b->n_open - 2] : NULL;
    uint64_t most;

    if (k->seq >= b->next_seq || (before != NULL && k->seq <= before->seq) ||
        k->round > k->s || k->ready >= b->next_ready || k->n_given > k->size)
        return false;
    most = bands_table_count(t, k->s, k->round);
    if (k->round == 0)
        return k->size == most && k->first < b->next_n &&
               most <= b->next_n - k->first;
    return k->size >= 1 && k->size <= most;
}

static const char *
load_into(struct bands *b, struct bands_bracket *k, const struct prior *prior,
          const struct tp_source *source)
{
    uint64_t round = 0, n_given = 0;
    uint64_t *head[] = {&k->seq, &k->first, &k->ready,
                        &round,  &k->size,  &n_given};

    if (read_all(source, head, sizeof head / sizeof *head) != 0)
        return "a saved bracket is cut off";
    k->s = b->options.table.s_max -
           (unsigned)(k->seq % (b->options.table.s_max + 1));
    if (round > k->s || n_given > k->size)
        return "a saved bracket is damaged";
    k->round = (unsigned)round;
    k->n_given = (size_t)n_given;
    if (!is_sound(b, k))
        return "a saved bracket is damaged";
    return load_slots(b, k, prior, source);
}

static const char *
load_bracket(struct bands *b, const struct prior *prior,
             const struct tp_source *source)
{
    struct bands_bracket *k = calloc(1, sizeof *k);

    if (k == NULL || bands_add(b, k) != 0)
        return OUT_OF_MEMORY;
    return load_into(b, k, prior, source);
}

static const char *
load_stale(struct bands *b, uint64_t n, const struct tp_source *source)
{
    if (n > tp_left(source) / sizeof n)
        return "the saved trials to be released are cut off";
    if (bands_stale_reserve(b, (size_t)n) != 0)
        return OUT_OF_MEMORY;
    while (b->n_stale < n)
        if (tp_get_u64(source, &b->stale[b->n_stale++]) != TP_OK)
            return "the saved trials to be released are cut off";
    return NULL;
}

const char *
bands_load(struct bands *b, const struct prior *prior,
           const struct tp_source *source)
{
    uint64_t n_stale = 0, n_open = 0;
    uint64_t *head[] = {&b->next_seq, &b->next_n, &b->next_ready, &b->begun,
                        &b->last_id,  &b->again,  &n_stale};
    const char *wrong;

    if (read_all(source, head, sizeof head / sizeof *head) != 0)
        return "the saved brackets are cut off";
    wrong = load_stale(b, n_stale, source);
    if (wrong != NULL)
        return wrong;
    if (tp_get_u64(source, &n_open) != TP_OK || b->begun > b->next_seq ||
        n_open > b->begun)
        return "the number of saved brackets is damaged";
    while (n_open-- > 0) {
        wrong = load_bracket(b, prior, source);
        if (wrong != NULL)
            return wrong;
    }
    return NULL;
}

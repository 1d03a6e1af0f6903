/* SPDX-License-Identifier: MIT */
#include "bands/bands.h"

#include "front.h"
#include "grow.h"
#include "prior/prior.h"
#include "tunepipe/shell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct rank {
    double loss;
    uint64_t turn;
    size_t slot;
};

/* Doubles a trial: its violation, then its costs; or none. */
static size_t
cost_row(const struct bands *b)
{
    return b->n_costs == 0 ? 0 : b->n_costs + 1;
}

/* Room for n trials of the round.  -1: out of memory. */
static int
reserve(const struct bands *b, struct bands_bracket *k, size_t n)
{
    size_t room = grow_cap(k->room);

    if (n <= k->room)
        return 0;
    room = room < n ? n : room;
    if (grow_to(&k->slots, room, sizeof *k->slots) != 0 ||
        grow_to(&k->x, room, b->n_dims * sizeof *k->x) != 0 ||
        (b->n_costs > 0 &&
         grow_to(&k->costs, room, cost_row(b) * sizeof *k->costs) != 0))
        return -1;
    k->room = room;
    return 0;
}

static void
bands_bracket_free(struct bands_bracket *k)
{
    if (k == NULL)
        return;
    free(k->slots);
    free(k->x);
    free(k->costs);
    free(k);
}

/* Puts it behind the open ones, and takes it, also when it fails: -1. */
static int
add_open(struct bands *b, struct bands_bracket *k)
{
    if (GROW(b->open, b->n_open, b->open_room) != 0) {
        bands_bracket_free(k);
        return -1;
    }
    b->open[b->n_open++] = k;
    return 0;
}

/* The next bracket is ready.  -1: out of memory. */
static int
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
    if (add_open(b, k) != 0)
        return -1;
    b->next_seq++;
    b->begun++;
    b->next_ready++;
    b->next_n += k->size;
    return 0;
}

/* The trial's place among those that are out, or where it belongs. */
static size_t
out_find(const struct bands *b, uint64_t id)
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

/* -1: out of memory. */
static int
out_add(struct bands *b, uint64_t id, struct bands_bracket *k, size_t slot)
{
    size_t i = out_find(b, id);

    if (GROW(b->out, b->n_out, b->out_room) != 0)
        return -1;
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

static void
bands_release_stale(struct bands *b)
{
    for (size_t i = 0; i < b->n_stale; i++)
        b->options.release(b->options.ctx, b->stale[i]);
    b->n_stale = 0;
}

/* So many more may be released later.  -1: out of memory. */
static int
stale_reserve(struct bands *b, size_t more)
{
    return grow_to(&b->stale, b->n_stale + more, sizeof *b->stale);
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

static int
compare_turns(const void *va, const void *vb)
{
    const struct rank *a = va, *b = vb;

    return a->turn < b->turn ? -1 : 1;
}

/* n trials by front and crowding, then by who reported first. */
static int
rank_several(const struct bands *b, const struct bands_bracket *k,
             struct rank *ranks, size_t n)
{
    size_t m = b->n_costs;
    double *costs = calloc(n * (m + 1) + 1, sizeof *costs);
    uint32_t *order = calloc(n + 1, sizeof *order);
    struct rank *sorted = calloc(n + 1, sizeof *sorted);
    int rc = -1;

    if (costs == NULL || order == NULL || sorted == NULL)
        goto done;
    qsort(ranks, n, sizeof *ranks, compare_turns);
    for (size_t i = 0; i < n; i++) {
        const double *row = k->costs + ranks[i].slot * cost_row(b);

        costs[n * m + i] = row[0];
        memcpy(costs + i * m, row + 1, m * sizeof *costs);
    }
    if (front_order(costs, costs + n * m, n, m, order) != 0)
        goto done;
    for (size_t i = 0; i < n; i++)
        sorted[i] = ranks[order[i]];
    memcpy(ranks, sorted, n * sizeof *ranks);
    rc = 0;
done:
    free(costs);
    free(order);
    free(sorted);
    return rc;
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
    if (b->n_costs == 0) {
        qsort(ranks, n, sizeof *ranks, compare);
    } else if (rank_several(b, k, ranks, n) != 0) {
        free(ranks);
        return NULL;
    }
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
    for (size_t i = 0; i < to->size * cost_row(b); i++)
        to->costs[i] = 0; /* saved before they are reported */
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

/* What comes of the i-th open bracket, whose round is over: its next round is
 * ready, or it is gone.  -1: out of memory, it is as it was. */
static int
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
    next.x = next.costs = NULL;
    ranks = ranking(b, k);
    if (ranks == NULL || stale_reserve(b, 1) != 0 ||
        reserve(b, &next, next.size) != 0) {
        free(ranks);
        free(next.slots);
        free(next.x);
        return -1;
    }
    promote(b, k, ranks, &next);
    release_rest(b, k, ranks, next.size);
    free(ranks);
    forget_trials(b, k);
    free(k->slots);
    free(k->x);
    free(k->costs);
    *k = next;
    if (k->size == 0)
        close_bracket(b, i);
    else
        b->next_ready++;
    return 0;
}

/* ---- asked and told ---- */

struct bands *
bands_new(const struct bands_options *options)
{
    struct bands *b = calloc(1, sizeof *b);

    if (b == NULL)
        return NULL;
    b->options = *options;
    b->last_id = BANDS_NO_ID;
    b->ending = BANDS_NO_ID;
    return b;
}

static void
give_up_brackets(struct bands *b)
{
    while (b->n_open > 0)
        bands_bracket_free(b->open[--b->n_open]);
    b->n_out = 0;
}

void
bands_free(struct bands *b)
{
    if (b == NULL)
        return;
    give_up_brackets(b);
    free(b->open);
    free(b->out);
    free(b->stale);
    free(b);
}

/* Trials of an open bracket whose checkpoint is still waited with: those that
 * ended in this round, and those that the others of a promoted round come
 * from. */
static void
note_stale(struct bands *b, const struct bands_bracket *k)
{
    size_t n = k->round == 0 ? k->n_given : (size_t)k->size;

    for (size_t i = 0; i < n; i++) {
        const struct bands_slot *slot = &k->slots[i];

        if (slot->flags & BANDS_ENDED)
            b->stale[b->n_stale++] = slot->id;
        else if (slot->id == BANDS_NO_ID)
            b->stale[b->n_stale++] = slot->from;
    }
}

int
bands_space(struct bands *b, size_t n_dims)
{
    size_t n = 0;

    for (size_t i = 0; i < b->n_open; i++)
        n += b->open[i]->round == 0 ? b->open[i]->n_given
                                    : (size_t)b->open[i]->size;
    if (stale_reserve(b, n) != 0)
        return -1;
    for (size_t i = 0; i < b->n_open; i++)
        note_stale(b, b->open[i]);
    b->begun -= b->n_open;
    give_up_brackets(b);
    b->n_dims = n_dims;
    b->last_id = BANDS_NO_ID;
    return 0;
}

static bool
is_over(const struct bands_bracket *k)
{
    return k->n_ended == k->size;
}

/* What bands_ended() had no memory for, and bands_space() nobody to tell. */
static int
settle(struct bands *b)
{
    bands_release_stale(b);
    for (size_t i = b->n_open; i-- > 0;)
        if (is_over(b->open[i]) && bands_advance(b, i) != 0)
            return -1;
    return 0;
}

/* The bracket that has been ready for longest; NULL: none is. */
static struct bands_bracket *
first_ready(const struct bands *b)
{
    struct bands_bracket *first = NULL;

    for (size_t i = 0; i < b->n_open; i++) {
        struct bands_bracket *k = b->open[i];

        if (k->n_given < k->size && (first == NULL || k->ready < first->ready))
            first = k;
    }
    return first;
}

static bool
may_open(const struct bands *b)
{
    const struct bands_bracket *before =
        b->n_open > 0 ? b->open[b->n_open - 1] : NULL;

    if (b->options.limit > 0 && b->begun >= b->options.limit)
        return false;
    if (before == NULL || before->seq + 1 != b->next_seq)
        return true; /* the one before is over */
    switch (b->options.order) {
    case BANDS_PARALLEL:
        return true;
    case BANDS_BEGUN:
        return before->round == before->s;
    case BANDS_FINISHED:
        break;
    }
    return false;
}

/* With nothing ready and no bracket to be opened. */
static int
later_or_done(const struct bands *b)
{
    if (b->options.limit == 0 || b->begun < b->options.limit)
        return BANDS_LATER;
    for (size_t i = 0; i < b->n_open; i++)
        if (b->open[i]->round < b->open[i]->s)
            return BANDS_LATER;
    return BANDS_DONE;
}

/* The next trial of a bracket that is ready. */
static int
give(struct bands *b, struct bands_bracket *k, uint64_t id)
{
    struct bands_slot *slot;

    if (reserve(b, k, k->n_given + 1) != 0 ||
        out_add(b, id, k, k->n_given) != 0)
        return -1;
    slot = &k->slots[k->n_given];
    if (k->round == 0) {
        *slot = (struct bands_slot){.n = k->first + k->n_given,
                                    .from = BANDS_NO_ID};
        memset(k->x + k->n_given * b->n_dims, 0, b->n_dims * sizeof *k->x);
    }
    for (size_t i = 0; i < cost_row(b); i++)
        k->costs[k->n_given * cost_row(b) + i] = 0;
    slot->id = id;
    k->n_given++;
    return 0;
}

static const struct bands_out *
find(const struct bands *b, uint64_t id)
{
    size_t i = out_find(b, id);

    return i < b->n_out && b->out[i].id == id ? &b->out[i] : NULL;
}

bool
bands_find(const struct bands *b, uint64_t id, struct bands_job *job)
{
    const struct bands_table *t = &b->options.table;
    const struct bands_out *out = find(b, id);

    if (out == NULL)
        return false;
    *job = (struct bands_job){
        .bracket = out->bracket,
        .slot = &out->bracket->slots[out->slot],
        .hyperband = out->bracket->seq / (t->s_max + 1),
        .budget = bands_table_budget(t, out->bracket->s, out->bracket->round),
        .x = out->bracket->x + out->slot * b->n_dims,
        .again = id == b->last_id ? b->again : 0,
    };
    return true;
}

int
bands_ask(struct bands *b, uint64_t id, struct bands_job *job)
{
    struct bands_bracket *k;

    if (settle(b) != 0)
        return BANDS_ERROR;
    if (find(b, id) != NULL) {
        b->again = id == b->last_id ? b->again + 1 : 1;
    } else {
        k = first_ready(b);
        if (k == NULL && !may_open(b))
            return later_or_done(b);
        if (k == NULL && bands_open(b) != 0)
            return BANDS_ERROR;
        k = k != NULL ? k : b->open[b->n_open - 1];
        if (give(b, k, id) != 0)
            return BANDS_ERROR;
        b->again = 0;
    }
    b->last_id = id;
    bands_find(b, id, job);
    return BANDS_JOB;
}

/* Where a trial's value goes; NULL: its round is over. */
static struct bands_slot *
visit(const struct bands *b, uint64_t id, const double *x,
      struct bands_bracket **k)
{
    const struct bands_out *out = find(b, id);

    if (out == NULL)
        return NULL;
    *k = out->bracket;
    memcpy(out->bracket->x + out->slot * b->n_dims, x, b->n_dims * sizeof *x);
    return &out->bracket->slots[out->slot];
}

void
bands_lend(struct bands *b, const double *costs, double violation)
{
    b->costs = costs;
    b->violation = violation;
}

/* Of the slot-th trial: what was lent. */
static void
take_costs(const struct bands *b, struct bands_bracket *k, size_t slot)
{
    double *row = k->costs + slot * cost_row(b);

    row[0] = b->costs == NULL || isnan(b->violation) ? (double)INFINITY
                                                     : b->violation;
    for (size_t i = 0; i < b->n_costs; i++)
        row[i + 1] = b->costs == NULL ? (double)NAN : b->costs[i];
}

static void
record(const struct bands *b, struct bands_bracket *k, struct bands_slot *slot,
       double value, uint64_t step)
{
    if (b->n_costs > 0)
        take_costs(b, k, (size_t)(slot - k->slots));
    if (!(slot->flags & BANDS_REPORTED))
        slot->turn = k->n_reported++;
    slot->flags |= BANDS_REPORTED;
    slot->value = value;
    slot->step = step;
}

bool
bands_metric(struct bands *b, uint64_t id, const double *x, double value,
             uint64_t step)
{
    struct bands_bracket *k;
    struct bands_slot *slot = visit(b, id, x, &k);

    if (slot == NULL || (slot->flags & (BANDS_ENDED | BANDS_FINAL)))
        return false;
    if (slot->flags & BANDS_USED)
        return true;
    if (!(slot->flags & BANDS_REPORTED) || step >= slot->step)
        record(b, k, slot, value, step);
    if (step < bands_table_budget(&b->options.table, k->s, k->round) - 1)
        return false;
    slot->flags |= BANDS_USED;
    return true;
}

void
bands_final(struct bands *b, uint64_t id, const double *x, double value)
{
    struct bands_bracket *k;
    struct bands_slot *slot = visit(b, id, x, &k);

    if (slot == NULL || (slot->flags & BANDS_FINAL))
        return;
    record(b, k, slot, value, UINT64_MAX);
    slot->flags |= BANDS_FINAL;
}

int
bands_ended(struct bands *b, uint64_t id, const double *x)
{
    struct bands_bracket *k;
    struct bands_slot *slot = visit(b, id, x, &k);
    int rc = 0;

    bands_release_stale(b);
    if (slot == NULL || (slot->flags & BANDS_ENDED))
        return 0;
    slot->flags |= BANDS_ENDED;
    k->n_ended++;
    if (!is_over(k))
        return 0;
    b->ending = id;
    for (size_t i = b->n_open; i-- > 0;)
        if (b->open[i] == k) {
            rc = bands_advance(b, i);
            break;
        }
    b->ending = BANDS_NO_ID;
    return rc;
}

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
    if (b->n_costs > 0)
        tp_put_f64s(sink, k->costs, slots_of(k) * cost_row(b));
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
    if (reserve(b, k, n) != 0)
        return OUT_OF_MEMORY;
    for (size_t i = 0; wrong == NULL && i < n; i++)
        wrong = load_slot(b, k, i, source);
    if (wrong != NULL)
        return wrong;
    if (tp_get_f64s(source, k->x, n * b->n_dims) != TP_OK ||
        (b->n_costs > 0 &&
         tp_get_f64s(source, k->costs, n * cost_row(b)) != TP_OK))
        return "a saved bracket is cut off";
    for (size_t i = 0; i < n; i++) {
        const struct bands_slot *slot = &k->slots[i];

        if (!prior_holds(prior, k->x + i * b->n_dims))
            return "a saved trial is none of this search space";
        if ((slot->flags & BANDS_REPORTED) && slot->turn >= k->n_reported)
            return "a saved trial is damaged";
        if (i < k->n_given) {
            size_t at = out_find(b, slot->id);

            if (at < b->n_out && b->out[at].id == slot->id)
                return "a saved trial comes twice";
            if (out_add(b, slot->id, k, i) != 0)
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

    if (k == NULL || add_open(b, k) != 0)
        return OUT_OF_MEMORY;
    return load_into(b, k, prior, source);
}

static const char *
load_stale(struct bands *b, uint64_t n, const struct tp_source *source)
{
    if (n > tp_left(source) / sizeof n)
        return "the saved trials to be released are cut off";
    if (stale_reserve(b, (size_t)n) != 0)
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

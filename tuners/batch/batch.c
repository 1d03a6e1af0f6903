/* SPDX-License-Identifier: MIT */
/* DESIGN: the elements sorted by key and, within a key, by place, so that
 * equal ones are a run, whose first entry knows how many of it are gone for
 * sure: an element is struck out in O(log n). */
#include "batch/batch.h"

#include "grow.h"

#include <stdlib.h>
#include <string.h>

struct entry {
    struct batch_key key;
    size_t index;
    size_t skip; /* of a run's first entry: so many of the run are gone */
};

struct list {
    struct batch_key *keys; /* of element i */
    struct entry *sorted;
    char *gone; /* element i was given out or struck out */
    size_t n, next;
};

struct batch {
    struct list list;
    struct batch_key *done; /* of all lists */
    size_t n_done, cap_done;
};

struct batch *
batch_new(void)
{
    return calloc(1, sizeof(struct batch));
}

static void
list_fini(struct list *l)
{
    free(l->keys);
    free(l->sorted);
    free(l->gone);
}

void
batch_free(struct batch *b)
{
    if (b == NULL)
        return;
    list_fini(&b->list);
    free(b->done);
    free(b);
}

static int
compare_keys(const struct batch_key *a, const struct batch_key *b)
{
    for (int i = 0; i < 2; i++)
        if (a->word[i] != b->word[i])
            return a->word[i] < b->word[i] ? -1 : 1;
    return 0;
}

static int
by_key(const void *va, const void *vb)
{
    const struct entry *a = va, *b = vb;
    int order = compare_keys(&a->key, &b->key);

    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

/* Where the key's run begins, or would. */
static size_t
find_run(const struct list *l, const struct batch_key *key)
{
    size_t low = 0, high = l->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare_keys(&l->sorted[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* 1 when there was one to strike out. */
static int
strike(struct list *l, const struct batch_key *key)
{
    size_t first = find_run(l, key);

    while (first < l->n) {
        struct entry *run = &l->sorted[first];

        if (first + run->skip >= l->n ||
            compare_keys(&run[run->skip].key, key) != 0)
            return 0;
        if (!l->gone[run[run->skip].index]) {
            l->gone[run[run->skip].index] = 1;
            return 1;
        }
        run->skip++;
    }
    return 0;
}

int
batch_list(struct batch *b, const struct batch_key *keys, size_t n)
{
    struct list l = {.n = n};

    l.keys = malloc(n * sizeof *l.keys + 1);
    l.sorted = malloc(n * sizeof *l.sorted + 1);
    l.gone = calloc(n + 1, 1);
    if (l.keys == NULL || l.sorted == NULL || l.gone == NULL) {
        list_fini(&l);
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        l.keys[i] = keys[i];
        l.sorted[i] = (struct entry){keys[i], i, 0};
    }
    qsort(l.sorted, n, sizeof *l.sorted, by_key);
    for (size_t i = 0; i < b->n_done; i++)
        (void)strike(&l, &b->done[i]);
    list_fini(&b->list);
    b->list = l;
    return 0;
}

const struct batch_key *
batch_done(const struct batch *b, size_t *n)
{
    *n = b->n_done;
    return b->done;
}

static int
remember(struct batch *b, struct batch_key key)
{
    if (GROW(b->done, b->n_done, b->cap_done) != 0)
        return -1;
    b->done[b->n_done++] = key;
    return 0;
}

int
batch_next(struct batch *b, size_t *out)
{
    struct list *l = &b->list;

    while (l->next < l->n && l->gone[l->next])
        l->next++;
    if (l->next == l->n)
        return 0;
    if (remember(b, l->keys[l->next]) != 0)
        return -1;
    *out = l->next++;
    l->gone[*out] = 1;
    return 1;
}

int
batch_strike(struct batch *b, struct batch_key key)
{
    return strike(&b->list, &key) ? remember(b, key) : 0;
}

int
batch_take_done(struct batch *b, struct batch_key key)
{
    if (remember(b, key) != 0)
        return -1;
    (void)strike(&b->list, &key);
    return 0;
}

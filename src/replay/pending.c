/* SPDX-License-Identifier: MIT */
#include "replay/pending.h"

#include <endian.h>
#include <stdlib.h>

struct pending_list {
    struct emission *first, *last;
};

/* The key of a list; sorted by its bytes the lists are in the order of causes,
 * the tuner's first. */
struct key {
    uint64_t cause, sender;
};

static struct key
key_of(uint64_t cause, enum sender sender)
{
    return (struct key){htobe64(cause), htobe64(sender)};
}

void
pending_fini(struct pending *p)
{
    struct pending_list *list;
    size_t at = 0;

    while ((list = map_next(&p->lists, &at)) != NULL) {
        struct emission *next;

        for (struct emission *d = list->first; d != NULL; d = next) {
            next = d->next;
            free(d);
        }
        free(list);
    }
    map_fini(&p->lists);
    *p = (struct pending){0};
}

static struct pending_list *
list_of(struct pending *p, const struct key *key)
{
    struct pending_list *list = map_get(&p->lists, key, sizeof *key);

    if (list != NULL)
        return list;
    list = calloc(1, sizeof *list);
    if (list != NULL && map_put(&p->lists, key, sizeof *key, list) != 0) {
        free(list);
        list = NULL;
    }
    return list;
}

void
pending_add(struct pending *p, const struct emission *e)
{
    struct key key = key_of(e->cause, e->sender);
    struct emission *d = emission_copy(e);
    struct pending_list *list = d == NULL ? NULL : list_of(p, &key);

    if (list == NULL) {
        free(d);
        p->failed = true;
        return;
    }
    if (list->first == NULL)
        list->first = d;
    else
        list->last->next = d;
    list->last = d;
    p->frames++;
}

struct emission *
pending_take(struct pending *p, uint64_t cause, enum sender sender)
{
    struct key key = key_of(cause, sender);
    struct pending_list *list =
        p->frames == 0 ? NULL : map_get(&p->lists, &key, sizeof key);
    struct emission *d;

    if (list == NULL)
        return NULL;
    d = list->first;
    list->first = d->next;
    if (list->first == NULL)
        free(map_remove(&p->lists, &key, sizeof key));
    p->frames--;
    return d;
}

const struct emission *
pending_peek(const struct pending *p, uint64_t cause, enum sender sender)
{
    struct key key = key_of(cause, sender);
    const struct pending_list *list = map_get(&p->lists, &key, sizeof key);

    return list == NULL ? NULL : list->first;
}

const struct emission *
pending_next(const struct pending *p, size_t *at)
{
    const struct pending_list *list = map_next(&p->lists, at);

    return list == NULL ? NULL : list->first;
}

const struct emission *
pending_first(const struct pending *p)
{
    const struct emission *first = NULL;
    const struct pending_list *list;
    size_t at = 0;

    while ((list = map_next(&p->lists, &at)) != NULL)
        if (first == NULL || list->first->cause < first->cause)
            first = list->first;
    return first;
}

const struct emission **
pending_all(const struct pending *p)
{
    const struct emission **all = malloc(p->frames * sizeof(*all) + 1);
    const struct map_slot **lists = all == NULL ? NULL : map_sorted(&p->lists);
    size_t n = 0;

    for (size_t i = 0; lists != NULL && i < p->lists.count; i++) {
        const struct pending_list *list = lists[i]->value;

        for (const struct emission *e = list->first; e != NULL; e = e->next)
            all[n++] = e;
    }
    if (lists == NULL) {
        free(all);
        all = NULL;
    }
    free(lists);
    return all;
}

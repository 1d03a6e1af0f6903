/* SPDX-License-Identifier: MIT */
#include "dispatcher/launches.h"

#include "command.h"
#include "core/pack.h"

#include <stdlib.h>
#include <string.h>

void
launches_fini(struct launches *l)
{
    map_fini(&l->numbers);
    map_fini(&l->labels);
    idset_fini(&l->lost);
    *l = (struct launches){0};
}

int
launches_give(struct launches *l, uint64_t id, const char *label)
{
    if (label != NULL)
        return map_put(&l->labels, label, strlen(label), l);
    return map_put(&l->numbers, &id, sizeof id, l);
}

void
launches_end(struct launches *l, const struct parameter_id *hint)
{
    switch (hint->kind) {
    case PARAMETER_NUMBER:
        map_remove(&l->numbers, &hint->number, sizeof hint->number);
        return;
    case PARAMETER_LABEL:
        map_remove(&l->labels, hint->label, strlen(hint->label));
        return;
    case PARAMETER_NONE: /* the user's own */
        return;
    }
}

bool
launches_are_over(const struct launches *l)
{
    return l->numbers.count + l->labels.count == 0;
}

int
launches_lose(struct launches *l, uint64_t id)
{
    if (idset_has(&l->lost, id))
        return 0;
    if (idset_add(&l->lost, id) != 0)
        return -1;
    l->n_lost++;
    return 0;
}

uint64_t
launches_next_lost(struct launches *l)
{
    l->n_lost--;
    return idset_take_first(&l->lost);
}

/* ---- packed ---- */

static void
save_keys(const struct map *m, struct buf *out)
{
    const struct map_slot **slots = map_sorted(m);

    pack_u64(out, m->count);
    for (size_t i = 0; slots != NULL && i < m->count; i++)
        pack_bytes(out, slots[i]->key, slots[i]->len);
    out->failed = out->failed || slots == NULL;
    free(slots);
}

static void
load_keys(struct map *m, struct launches *l, struct unpack *in)
{
    size_t n = unpack_count(in, sizeof(uint64_t)), len;

    for (size_t i = 0; i < n && !in->failed; i++) {
        const char *key = unpack_bytes(in, &len);

        if (in->failed || map_get(m, key, len) != NULL ||
            map_put(m, key, len, l) != 0)
            unpack_fail(in);
    }
}

void
launches_save(const struct launches *l, struct buf *out)
{
    save_keys(&l->numbers, out);
    save_keys(&l->labels, out);
    idset_save(&l->lost, out);
}

int
launches_load(struct launches *l, struct unpack *in)
{
    load_keys(&l->numbers, l, in);
    load_keys(&l->labels, l, in);
    idset_load(&l->lost, in);
    l->n_lost = idset_count(&l->lost);
    return in->failed ? -1 : 0;
}

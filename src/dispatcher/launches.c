/* SPDX-License-Identifier: MIT */
#include "dispatcher/launches.h"

#include "command.h"
#include "core/log.h"
#include "core/pack.h"
#include "dispatcher/trials.h"

#include <inttypes.h>
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

/* A trial that was launched for that one has ended. */
static void
end_launch(struct launches *l, const struct parameter_id *hint)
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

int64_t
launches_seek(struct launches *l, struct trials *trials,
              const struct trial_end *end, struct trial ***unrun)
{
    size_t n;

    *unrun = NULL;
    end_launch(l, &end->hint);
    if (trials_out(trials) == 0 || end->living > 0 ||
        l->numbers.count + l->labels.count > 0)
        return 0;
    *unrun = trials_unended(trials, &n);
    return *unrun == NULL ? -1 : (int64_t)n;
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

void
launches_tell(const struct launches *l, uint64_t before, const struct log *log,
              uint64_t arrival)
{
    if (l->n_lost > before)
        log_info(log,
                 "command %" PRIu64 " (EN): as many trials have ended as were "
                 "launched, and %" PRIu64
                 " suggestions were run by none: they are given out again",
                 arrival, l->n_lost - before);
}

struct trial *
launches_next_lost(struct launches *l, struct trials *trials)
{
    struct parameter_id which = {.kind = PARAMETER_NUMBER};
    struct trial *trial;

    while (l->n_lost > 0) {
        l->n_lost--;
        which.number = idset_take_first(&l->lost);
        trial = trials_find(trials, &which);
        if (trial != NULL && !trial->ended)
            return trial;
    }
    return NULL;
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

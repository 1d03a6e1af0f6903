/* SPDX-License-Identifier: MIT */
#include "manager/need.h"

#include "config/wishes.h"
#include "manager/claim.h"
#include "manager/oom.h"
#include "manager/resources.h"
#include "manager/trial.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_GUESS ((uint64_t)2 << 30)

static uint64_t
greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t
smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t
first_need(const struct resources *r)
{
    const struct wishes *w = r->wishes;
    uint64_t learned = r->peak + r->peak / 10;

    if (w->memory_auto)
        return r->peak > 0 ? learned
                           : smaller(FIRST_GUESS, (r->total - r->keep) / 4);
    /* Who is not kept to it may be known to use more. */
    return w->memory > 0 && !r->limited ? greater(w->memory, learned)
                                        : w->memory;
}

/* The attempts before that lacked memory, and how much they had. */
void
need_add_past(struct need *need, const struct resources *r,
              const struct trial *t)
{
    struct trial past = {.number = t->number};
    struct claim had;
    uint64_t bytes;
    bool prepares;

    memcpy(past.id, t->id, sizeof past.id);
    for (; past.attempt < t->attempt; past.attempt++) {
        enum oom kind = OOM_NOT;

        if (trial_place(&past, r->folder, NULL) == 0)
            kind = oom_recorded(past.folder, &prepares, &bytes);
        if (kind == OOM_NOT)
            continue;
        need->failed[kind == OOM_DEVICE] += prepares == t->unrun;
        if (kind == OOM_DEVICE) {
            need->devices.alone = true;
        } else if (wishes_reserve(r->wishes)) {
            if (claim_read(&had, past.folder))
                bytes = greater(bytes, had.memory);
            need->memory = greater(need->memory, bytes + bytes / 2);
        }
    }
    free(past.folder);
}

struct need
need_of(const struct resources *r, const struct trial *t)
{
    const struct wishes *w = r->wishes;
    struct need need = {.memory = first_need(r),
                        .devices = {w->devices, w->device_memory, false}};

    if (t->attempt > 0)
        need_add_past(&need, r, t);
    if (wishes_reserve(w))
        need.memory = smaller(need.memory, r->total - r->keep);
    return need;
}

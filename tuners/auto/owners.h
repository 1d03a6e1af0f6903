/* SPDX-License-Identifier: MIT */
/* owners.h - which part suggested a trial, and whether it is still open.
 *
 * Ids rise, so that a run of trials of one part takes one entry, 16 bytes.  An
 * open trial takes another 8.  One thread. */
#ifndef TUNERS_AUTO_OWNERS_H
#define TUNERS_AUTO_OWNERS_H

#include "tunepipe/tuner.h"

#include <stdbool.h>

struct owners_run {
    uint64_t first; /* id */
    uint64_t part;
};

struct owners {
    struct owners_run *runs; /* by first; owned */
    size_t n, room;
    uint64_t last;  /* id; TP_NO_ID: none yet */
    uint64_t *open; /* ids that were added and not closed, rising; owned */
    size_t n_open, open_room;
};

void owners_init(struct owners *o);
void owners_fini(struct owners *o);

/* The part of `id`, or -1 when no trial of that id was added. */
int owners_of(const struct owners *o, uint64_t id);

/* An id above all before.  -1 when out of memory. */
int owners_add(struct owners *o, uint64_t id, size_t part);

/* Whether `id` was open; now it is not. */
bool owners_close(struct owners *o, uint64_t id);

/* All are closed. */
void owners_close_all(struct owners *o);

/* As save and load of tunepipe/plugin.h; owners_load() returns 0, -1 when
 * damaged or out of memory.  Parts are below n_parts. */
void owners_save(const struct owners *o, const struct tp_sink *sink);
int owners_load(struct owners *o, const struct tp_source *source,
                size_t n_parts);

#endif

/* SPDX-License-Identifier: MIT */
/* tally.h - how often each fingerprint has come by.  Zeroed it is empty. */
#ifndef FILTERS_DEDUP_TALLY_H
#define FILTERS_DEDUP_TALLY_H

#include "keyset/keyset.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_sink;
struct tp_source;

struct tally {
    struct keyset keys;
    uint64_t *counts_1; /* of each key, one more than its count */
    size_t room;        /* of counts_1 */
};

void tally_fini(struct tally *s); /* empty again */

/* Where one more than the count of key[0..1] stands, 1 when it is new, to be
 * changed; valid until the next call.  NULL: out of memory. */
uint64_t *tally_count(struct tally *s, const uint64_t key[2]);

/* Whether the key has been counted. */
bool tally_has(const struct tally *s, const uint64_t key[2]);

/* Load: into an empty one; why it failed, or NULL. */
void tally_save(const struct tally *s, const struct tp_sink *sink);
const char *tally_load(struct tally *s, const struct tp_source *source);

#endif

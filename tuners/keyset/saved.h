/* SPDX-License-Identifier: MIT */
/* saved.h - a set of keys as bytes and back, for the shells around
 * algorithms. */
#ifndef KEYSET_SAVED_H
#define KEYSET_SAVED_H

#include "keyset/keyset.h"
#include "tunepipe/plugin.h"

static inline void
keyset_save(const struct keyset *s, const struct tp_sink *sink)
{
    sink->u64(sink->ctx, s->n);
    for (size_t i = 0; i < s->n; i++) {
        sink->u64(sink->ctx, s->keys[i][0]);
        sink->u64(sink->ctx, s->keys[i][1]);
    }
}

/* Into an empty one.  NULL, or what was wrong: then it may only be freed. */
static inline const char *
keyset_load(struct keyset *s, const struct tp_source *source)
{
    uint64_t n, key[2];

    if (source->u64(source->ctx, &n) != TP_OK)
        return "the saved keys are cut off";
    while (n-- > 0) {
        int rc;

        if (source->u64(source->ctx, &key[0]) != TP_OK ||
            source->u64(source->ctx, &key[1]) != TP_OK)
            return "the saved keys are cut off";
        rc = keyset_add(s, key, NULL);
        if (rc != 1)
            return rc == 0 ? "a saved key comes twice" : "out of memory";
    }
    return NULL;
}

#endif

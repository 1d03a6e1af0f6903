/* SPDX-License-Identifier: MIT */
/* saved.h - a set of keys as bytes and back, for the shells around
 * algorithms. */
#ifndef KEYSET_SAVED_H
#define KEYSET_SAVED_H

#include "keyset/keyset.h"
#include "tunepipe/shell.h"

static inline void
keyset_save(const struct keyset *s, const struct tp_sink *sink)
{
    tp_put_u64(sink, s->n);
    for (size_t i = 0; i < s->n; i++) {
        tp_put_u64(sink, s->keys[i][0]);
        tp_put_u64(sink, s->keys[i][1]);
    }
}

/* Into an empty one.  NULL, or what was wrong: then it may only be freed. */
static inline const char *
keyset_load(struct keyset *s, const struct tp_source *source)
{
    uint64_t n, key[2];

    if (tp_get_u64(source, &n) != TP_OK)
        return "the saved keys are cut off";
    while (n-- > 0) {
        int rc;

        if (tp_get_u64(source, &key[0]) != TP_OK ||
            tp_get_u64(source, &key[1]) != TP_OK)
            return "the saved keys are cut off";
        rc = keyset_add(s, key, NULL);
        if (rc != 1)
            return rc == 0 ? "a saved key comes twice" : "out of memory";
    }
    return NULL;
}

#endif

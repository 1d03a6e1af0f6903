/* SPDX-License-Identifier: MIT */
#include "tally.h"

#include "grow.h"
#include "keyset/saved.h"
#include "tunepipe/shell.h"

#include <stdlib.h>

void
tally_fini(struct tally *s)
{
    keyset_fini(&s->keys);
    free(s->counts_1);
    *s = (struct tally){0};
}

uint64_t *
tally_count(struct tally *s, const uint64_t key[2])
{
    size_t place = 0;
    int rc = GROW(s->counts_1, s->keys.n, s->room);

    if (rc == 0)
        rc = keyset_add(&s->keys, key, &place);
    if (rc < 0)
        return NULL;
    if (rc == 1)
        s->counts_1[place] = 1;
    return &s->counts_1[place];
}

bool
tally_has(const struct tally *s, const uint64_t key[2])
{
    return keyset_has(&s->keys, key) &&
           s->counts_1[*keyset_slot(&s->keys, key) - 1] > 1;
}

void
tally_save(const struct tally *s, const struct tp_sink *sink)
{
    keyset_save(&s->keys, sink);
    for (size_t i = 0; i < s->keys.n; i++)
        tp_put_u64(sink, s->counts_1[i]);
}

const char *
tally_load(struct tally *s, const struct tp_source *source)
{
    const char *why = keyset_load(&s->keys, source);

    if (why == NULL && grow_to(&s->counts_1, s->keys.n, sizeof(uint64_t)) != 0)
        why = "out of memory";
    s->room = why == NULL ? s->keys.n : 0;
    for (size_t i = 0; why == NULL && i < s->keys.n; i++)
        if (tp_get_u64(source, &s->counts_1[i]) != TP_OK || s->counts_1[i] == 0)
            why = "how often parameters were given out is damaged";
    return why;
}

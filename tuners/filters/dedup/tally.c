/* SPDX-License-Identifier: MIT */
#include "tally.h"

#include "keyset/saved.h"
#include "tunepipe/shell.h"

#include <stdlib.h>

#define ROOM_MIN 64

void
tally_fini(struct tally *s)
{
    keyset_fini(&s->keys);
    free(s->counts_1);
    *s = (struct tally){0};
}

static int
make_room(struct tally *s, size_t n)
{
    size_t room = s->room > 0 ? s->room : ROOM_MIN;
    uint64_t *counts_1;

    if (n <= s->room)
        return 0;
    while (room < n)
        room *= 2;
    counts_1 = realloc(s->counts_1, room * sizeof *counts_1);
    if (counts_1 == NULL)
        return -1;
    s->counts_1 = counts_1;
    s->room = room;
    return 0;
}

uint64_t *
tally_count(struct tally *s, const uint64_t key[2])
{
    size_t place = 0;
    int rc = make_room(s, s->keys.n + 1);

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

    if (why == NULL && make_room(s, s->keys.n) != 0)
        why = "out of memory";
    for (size_t i = 0; why == NULL && i < s->keys.n; i++)
        if (tp_get_u64(source, &s->counts_1[i]) != TP_OK || s->counts_1[i] == 0)
            why = "how often parameters were given out is damaged";
    return why;
}

/* SPDX-License-Identifier: MIT */
#include "replay/skips.h"

#include "core/err.h"
#include "log/record.h"

#include <stdlib.h>

void
skips_fini(struct skips *s)
{
    struct skips_of *of;
    size_t at = 0;

    while ((of = map_next(&s->by_arrival, &at)) != NULL)
        free(of);
    map_fini(&s->by_arrival);
}

struct skips_of *
skips_find(const struct skips *s, uint64_t arrival)
{
    if (s->by_arrival.count == 0)
        return NULL; /* as in most logs: not worth a hash */
    return map_get(&s->by_arrival, &arrival, sizeof arrival);
}

static struct skips_of *
find_or_add(struct skips *s, uint64_t arrival)
{
    struct skips_of *of = skips_find(s, arrival);

    if (of != NULL)
        return of;
    of = calloc(1, sizeof *of);
    if (of != NULL &&
        map_put(&s->by_arrival, &arrival, sizeof arrival, of) != 0) {
        free(of);
        of = NULL;
    }
    return of;
}

/* Takes in the letters before the first space: t, a: that half is dropped;
 * behind x: barred; T, A: left; o: requests are dropped from there on. */
int
skips_add(struct skips *s, const struct record *record, struct err *err)
{
    struct skips_of *of = find_or_add(s, record->number);
    bool barred = false;

    if (of == NULL)
        return err_set(err, ERR_MEMORY, "replay: out of memory");
    for (size_t i = 0; i < record->len && record->payload[i] != ' '; i++) {
        char c = record->payload[i];
        struct skip *half =
            &of->half[c == 'a' || c == 'A' ? SENDER_ASSESSOR : SENDER_DEFAULT];

        if (c == 't' || c == 'a')
            *(barred ? &half->barred : &half->dropped) = true;
        half->left += c == 'T' || c == 'A';
        of->closes = of->closes || c == 'o';
        barred = barred || c == 'x';
    }
    return 0;
}

int
skips_bar(struct skips *s, uint64_t arrival, enum sender side, struct err *err)
{
    struct skips_of *of = find_or_add(s, arrival);

    if (of == NULL)
        return err_set(err, ERR_MEMORY, "replay: out of memory");
    of->half[side].barred = true;
    return 0;
}

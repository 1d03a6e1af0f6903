/* SPDX-License-Identifier: MIT */
#include "replay/difference.h"

#include "core/err.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *
sender_name(enum sender sender)
{
    switch (sender) {
    case SENDER_DEFAULT:
        return "tuner";
    case SENDER_ASSESSOR:
        return "assessor";
    case SENDER_ROUTER:
        break;
    }
    return "router";
}

#define SHOWN 300 /* bytes of a frame that an error shows */
#define BEFORE 60 /* how many of them stand before the first difference */

/* Where to begin to show two payloads: some bytes before they differ; 0 when
 * both can be shown whole, or there is only one. */
static size_t
show_from(const struct emission *a, const struct emission *b)
{
    size_t i = 0;

    if (a == NULL || b == NULL || (a->len < SHOWN && b->len < SHOWN))
        return 0;
    while (i < a->len && i < b->len && a->payload[i] == b->payload[i])
        i++;
    return i < SHOWN - BEFORE ? 0 : i - BEFORE;
}

static void
show(const struct emission *e, size_t from, char text[SHOWN + 16])
{
    size_t len;

    if (e == NULL) {
        memcpy(text, "nothing", sizeof "nothing");
        return;
    }
    len = e->len - from < SHOWN ? e->len - from : SHOWN;
    snprintf(text, SHOWN + 16, "%s%s%.*s", command_info(e->code)->code,
             from > 0 ? "..." : "", (int)len, len > 0 ? e->payload + from : "");
}

int
difference_tell(const char *path, uint64_t offset,
                const struct emission *recorded, const struct emission *derived,
                struct err *err)
{
    const struct emission *e = recorded != NULL ? recorded : derived;
    size_t from = show_from(recorded, derived);
    char was[SHOWN + 16], is[SHOWN + 16];

    show(recorded, from, was);
    show(derived, from, is);
    return err_set(err, ERR_INPUT,
                   "%s: offset %" PRIu64 ", command %" PRIu64
                   ", %s: recorded %s, replay gives %s",
                   path, offset, e->cause, sender_name(e->sender), was, is);
}

bool
difference_same(const struct emission *a, const struct emission *b)
{
    return a->code == b->code && a->len == b->len &&
           (a->len == 0 || memcmp(a->payload, b->payload, a->len) == 0);
}

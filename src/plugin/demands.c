/* SPDX-License-Identifier: MIT */
#include "plugin/demands.h"

#include "core/grow.h"
#include "tunepipe/plugin.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
forget_extras(struct demands *w)
{
    for (size_t i = 0; i < w->n_extras; i++) {
        free(w->extras[i].key);
        free(w->extras[i].text);
    }
    w->n_extras = 0;
}

void
demands_fini(struct demands *w)
{
    forget_extras(w);
    free(w->extras);
    free(w->decisions);
    *w = (struct demands){0};
}

void
demands_open(struct demands *w, bool extras, bool decisions)
{
    if (extras)
        forget_extras(w);
    w->takes_extras = extras;
    w->takes_decisions = decisions;
    w->fault[0] = '\0';
}

void
demands_close(struct demands *w)
{
    w->takes_extras = w->takes_decisions = false;
}

/* Notes what is wrong with a demand; of several mistakes the first counts. */
__attribute__((format(printf, 2, 3))) static void
fault(struct demands *w, const char *fmt, ...)
{
    va_list ap;

    if (w->fault[0] != '\0')
        return;
    va_start(ap, fmt);
    vsnprintf(w->fault, sizeof w->fault, fmt, ap);
    va_end(ap);
}

/* ---- extras ---- */

static bool
is_plain(const char *text)
{
    for (; *text != '\0'; text++)
        if (*text < ' ' || *text > '~')
            return false;
    return true;
}

/* What is wrong with an extra parameter; NULL: nothing. */
static const char *
refuse_extra(const struct demands *w, const char *key, const char *text)
{
    if (key == NULL || text == NULL)
        return "key or text is NULL";
    if (*key == '\0' || strnlen(key, EXTRA_KEY_MAX + 1) > EXTRA_KEY_MAX)
        return "expected a key of 1 to 255 bytes";
    if (!is_plain(key))
        return "expected a key of printable ASCII characters";
    if (strnlen(text, EXTRA_TEXT_MAX + 1) > EXTRA_TEXT_MAX)
        return "expected a text of at most 65536 bytes";
    if (w->n_extras >= EXTRAS_MAX)
        return "expected at most 64 keys";
    for (size_t i = 0; i < w->n_extras; i++)
        if (strcmp(w->extras[i].key, key) == 0)
            return "the key was given before";
    return NULL;
}

void
demands_extra(struct demands *w, const char *key, const char *text)
{
    const char *why = w->takes_extras ? refuse_extra(w, key, text) : NULL;
    struct extra extra;

    if (!w->takes_extras)
        return;
    if (why != NULL) {
        fault(w, "extra '%.60s': %s", key == NULL ? "" : key, why);
        return;
    }
    extra = (struct extra){strdup(key), strdup(text)};
    if (extra.key == NULL || extra.text == NULL ||
        GROW(w->extras, w->n_extras, w->extras_cap) != 0) {
        free(extra.key);
        free(extra.text);
        fault(w, "extra '%.60s': out of memory", key);
        return;
    }
    w->extras[w->n_extras++] = extra;
}

/* ---- decisions ---- */

void
demands_decide(struct demands *w, uint64_t id, int decision)
{
    if (!w->takes_decisions)
        return;
    if (decision < TP_STOP || decision > TP_RELEASE) {
        fault(w,
              "decide: decision on %" PRIu64 " is %d, expected TP_STOP (1), "
              "TP_PAUSE (2), TP_FINISH (3) or TP_RELEASE (4)",
              id, decision);
        return;
    }
    if (GROW(w->decisions, w->n_decisions, w->decisions_cap) != 0) {
        fault(w, "decide: out of memory");
        return;
    }
    w->decisions[w->n_decisions++] = (struct demanded){id, decision};
}

bool
demands_next(struct demands *w, struct demanded *out)
{
    if (w->at == w->n_decisions) {
        w->at = w->n_decisions = 0;
        return false;
    }
    *out = w->decisions[w->at++];
    return true;
}

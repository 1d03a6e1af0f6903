/* SPDX-License-Identifier: MIT */
#include "pbt/words.h"

#include "tunepipe/shell.h"

#include <stdio.h>

#define VALUE_MAX 80

typedef unsigned long long ull;

/* An element by what it says, anything else as a number. */
static void
value_text(const struct words *w, size_t dim, double x, char out[VALUE_MAX])
{
    const struct tp_host *host = w->host;
    struct tp_element e;
    double value = tp_value_of(host, dim, x);

    if (isnan(x)) {
        snprintf(out, VALUE_MAX, "nothing");
        return;
    }
    if (TP_DIM(w->space, dim)->kind == TP_CHOICE &&
        tp_element_of(host, dim, (uint64_t)x, &e) == TP_OK) {
        if (e.kind == TP_ELEMENT_TEXT) {
            snprintf(out, VALUE_MAX, "%.40s", e.text);
            return;
        }
        if (e.kind == TP_ELEMENT_TRUTH) {
            snprintf(out, VALUE_MAX, "%s", e.number != 0 ? "true" : "false");
            return;
        }
        if (e.kind == TP_ELEMENT_NUMBER)
            value = e.number;
    }
    snprintf(out, VALUE_MAX, "%.9g", value);
}

static void
explored(const struct words *w, const struct pbt_answer *a)
{
    char from[VALUE_MAX], to[VALUE_MAX];

    for (size_t i = 0; i < w->space->n_dims; i++) {
        if (a->base[i] == a->x[i] || (isnan(a->base[i]) && isnan(a->x[i])))
            continue;
        value_text(w, i, a->base[i], from);
        value_text(w, i, a->x[i], to);
        tp_explain(w->host, "%s %s -> %s", TP_DIM(w->space, i)->name, from, to);
    }
}

void
words_asked(const struct words *w, const struct pbt_answer *a)
{
    const char *turn = w->pbt->set.async ? "turn" : "round";
    ull size = w->pbt->set.size;

    if (!tp_explains(w->host))
        return;
    switch (a->kind) {
    case PBT_FRESH:
        tp_explain(w->host, "%s %llu: member %llu begins at %s", turn,
                   (ull)a->turn, (ull)a->member,
                   a->imported ? "an imported point" : "a draw of the prior");
        return;
    case PBT_ON:
        tp_explain(w->host, "%s %llu: member %llu (rank %llu of %llu) goes on",
                   turn, (ull)a->turn, (ull)a->member, (ull)a->rank + 1, size);
        return;
    case PBT_COPY:
        tp_explain(w->host,
                   "%s %llu: member %llu (rank %llu of %llu) copies "
                   "member %llu (rank %llu)",
                   turn, (ull)a->turn, (ull)a->member, (ull)a->rank + 1, size,
                   (ull)a->donor, (ull)a->donor_rank + 1);
        explored(w, a);
        return;
    }
}

void
words_judged(const struct words *w, uint64_t used,
             const struct pbt_judgement *j)
{
    static const char *const what[] = {
        [PBT_GO] = "it goes on",
        [PBT_STOP] = "it is stopped, and its member becomes a copy",
        [PBT_PAUSE] = "it makes place for a member that has had less",
        [PBT_FINISH] = "it has had its budget",
    };

    if (!tp_explains(w->host) || (!j->ranked && j->verdict == PBT_GO))
        return;
    if (j->ranked)
        tp_explain(w->host,
                   "after %llu results: rank %llu of %llu, cut at %llu: %s",
                   (ull)used, (ull)j->rank + 1, (ull)w->pbt->set.size,
                   (ull)j->cut, what[j->verdict]);
    else
        tp_explain(w->host, "after %llu results: %s", (ull)used,
                   j->verdict == PBT_PAUSE ? "its round is over"
                                           : what[j->verdict]);
}

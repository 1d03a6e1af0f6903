/* SPDX-License-Identifier: MIT */
#include "dispatcher/policy.h"

#include "command.h"
#include "core/err.h"
#include "core/nearest.h"
#include "json.h"
#include "objectives/objectives.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *const stopped_words[] = {
    [TELL_NOTHING] = "ignore",
    [TELL_LATEST] = "latest",
    [TELL_BEST] = "best",
};
static const char *const error_words[] = {
    [ERROR_SKIP] = "skip",
    [ERROR_FAIL] = "fail",
};
static const char *const ask_words[] = {
    [ASK_REFUSE] = "refuse",
    [ASK_PRIOR] = "prior",
};
static const char *const direction_words[] = {"minimize", "maximize"};
#define N(words) (sizeof(words) / sizeof *(words))

/* The index of the word, or -1 with err listing all of them. */
static int
choose(const char *const *words, size_t n, const char *word, struct err *err)
{
    char all[128] = "", hint[64];

    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(all);

        if (strcmp(words[i], word) == 0)
            return (int)i;
        snprintf(all + len, sizeof all - len, "%s%s", i == 0 ? "" : ", ",
                 words[i]);
    }
    return err_set(err, ERR_USAGE, "expected one of %s, got '%s'%s", all, word,
                   nearest_hint(word, words, n, hint, sizeof hint));
}

int
policy_set_stopped(struct policy *p, const char *word, struct err *err)
{
    int i = choose(stopped_words, N(stopped_words), word, err);

    if (i < 0)
        return -1;
    p->stopped = (enum stopped_policy)i;
    return 0;
}

int
policy_set_on_error(struct policy *p, const char *word, struct err *err)
{
    int i = choose(error_words, N(error_words), word, err);

    if (i < 0)
        return -1;
    p->on_error = (enum error_policy)i;
    return 0;
}

int
policy_set_ask_error(struct policy *p, const char *word, struct err *err)
{
    int i = choose(ask_words, N(ask_words), word, err);

    if (i < 0)
        return -1;
    p->ask_error = (enum ask_policy)i;
    return 0;
}

const char *
policy_direction_of(const char *word)
{
    for (size_t i = 0; i < N(direction_words); i++)
        if (strcasecmp(word, direction_words[i]) == 0)
            return direction_words[i];
    return NULL;
}

int
policy_set_direction(struct policy *p, const char *word, struct err *err)
{
    int i = choose(direction_words, N(direction_words), word, err);

    if (i < 0)
        return -1;
    p->maximize = i == 1;
    p->directed = true;
    return 0;
}

const char *
policy_direction(const struct policy *p)
{
    return p->directed ? direction_words[p->maximize] : NULL;
}

int
policy_set_objectives(struct policy *p, const struct objectives *o,
                      const char *judged, struct err *err)
{
    char hint[96];

    p->objectives = o;
    p->assessor_objective = NULL;
    p->directed = true;
    p->maximize = !policy_scalarizes(p) && o->items[0].maximize;
    for (size_t i = 0; judged != NULL && i < o->n; i++)
        if (strcmp(o->items[i].name, judged) == 0)
            p->assessor_objective = o->items[i].name;
    if (p->assessor_objective == NULL && judged != NULL &&
        strcmp(judged, POLICY_RANK) == 0)
        p->assessor_objective = POLICY_RANK;
    if (judged == NULL || p->assessor_objective != NULL)
        return 0;
    return err_set(
        err, ERR_USAGE,
        "'%s' is no objective, expected the name of one, or " POLICY_RANK "%s",
        judged,
        nearest_hint(judged, (const char *const *)o->names, o->n, hint,
                     sizeof hint));
}

bool
policy_scalarizes(const struct policy *p)
{
    return p->objectives != NULL &&
           (p->objectives->n > 1 || p->objectives->n_limits > 0);
}

size_t
policy_judged(const struct policy *p)
{
    if (p->objectives == NULL || p->assessor_objective == NULL)
        return SIZE_MAX;
    for (size_t i = 0; i < p->objectives->n; i++)
        if (strcmp(p->objectives->items[i].name, p->assessor_objective) == 0)
            return i;
    return SIZE_MAX;
}

bool
policy_judges_rank(const struct policy *p)
{
    return p->assessor_objective != NULL && policy_judged(p) == SIZE_MAX;
}

const char *
policy_assessor_direction(const struct policy *p)
{
    size_t i = policy_judged(p);

    if (policy_judges_rank(p))
        return direction_words[false];
    return i == SIZE_MAX ? policy_direction(p)
                         : direction_words[p->objectives->items[i].maximize];
}

const char *
policy_program_direction(const struct policy *p)
{
    return policy_scalarizes(p) ? NULL : policy_direction(p);
}

void
policy_write(const struct policy *p, struct json_writer *w)
{
    json_add_text(w, "early_stopped", stopped_words[p->stopped]);
    json_add_text(w, "on_error", error_words[p->on_error]);
    json_add_text(w, "ask_error", ask_words[p->ask_error]);
    json_add_bool(w, "extensions", p->extensions);
    json_add_bool(w, "maximize", p->maximize);
    if (p->directed)
        json_add_text(w, "direction", policy_direction(p));
    if (p->nni)
        json_add_bool(w, "nni", true);
    if (p->reissue)
        json_add_bool(w, "again", true);
    if (p->reclaim)
        json_add_bool(w, "reclaim", true);
    if (p->objectives != NULL) {
        struct json_writer o = json_begin(json_value(w, "objectives"));

        objectives_write(p->objectives, &o);
        if (p->assessor_objective != NULL)
            json_add_text(w, "assessor_objective", p->assessor_objective);
    }
}

const struct mark *
policy_mark(const struct policy *p, const struct trial_end *end)
{
    if (p->stopped == TELL_NOTHING || !end->has_marks)
        return NULL;
    if (p->stopped == TELL_LATEST)
        return &end->latest;
    return p->maximize ? &end->highest : &end->lowest;
}

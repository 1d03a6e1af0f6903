/* SPDX-License-Identifier: MIT */
#include "dispatcher/policy.h"

#include "command.h"
#include "core/err.h"
#include "core/nearest.h"
#include "json.h"

#include <stddef.h>
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

/* SPDX-License-Identifier: MIT */
#include "cli/attempt.h"

#include "core/err.h"
#include "core/number.h"
#include "history/folder.h"
#include "manager/results.h"
#include "pack/packs.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool
attempt_is_word(const char *word)
{
    size_t len = strcspn(word, ".");
    uint64_t number;

    return number_parse_u64(word, len, &number) &&
           (word[len] == '\0' ||
            number_parse_u64(word + len + 1, strlen(word + len + 1), &number));
}

static char *
folder_of(const char *experiment, const char *name)
{
    char *path = NULL;

    return asprintf(&path, "%s/" FOLDER_TRIALS "/%s", experiment, name) < 0
               ? NULL
               : path;
}

static bool
is_there(const char *experiment, const char *name)
{
    char *path = folder_of(experiment, name);
    bool there = path != NULL && packs_has(NULL, path);

    free(path);
    return there;
}

static void
name_attempt(const char *experiment, const char *word, struct attempt *a)
{
    size_t len = strcspn(word, ".");
    unsigned long long attempt = 0;
    uint64_t number = 0;
    char next[64];

    if (!number_parse_u64(word, len, &number)) {
        snprintf(a->name, sizeof a->name, "%.40s", word);
        return;
    }
    snprintf(a->trial, sizeof a->trial, "%05llu", (unsigned long long)number);
    snprintf(a->name, sizeof a->name, "%s%.30s", a->trial,
             strcmp(word + len, ".0") == 0 ? "" : word + len);
    do {
        snprintf(next, sizeof next, "%s.%llu", a->trial, ++attempt);
        if (word[len] == '\0' && is_there(experiment, next))
            memcpy(a->name, next, sizeof a->name);
    } while (is_there(experiment, next));
    snprintf(next, sizeof next, "%s.%llu", a->trial, attempt - 1);
    a->last = strcmp(a->name, attempt == 1 ? a->trial : next) == 0;
}

int
attempt_find(const char *experiment, const char *word, struct attempt *out,
             struct err *err)
{
    *out = (struct attempt){.folder = NULL};
    if (results_of_study(experiment))
        return err_set(err, ERR_CONFIG,
                       "%s is a study: whoever asks for a trial runs it, and "
                       "nothing of that is kept; tunepipe explain %s %.40s "
                       "tells what was asked and told",
                       experiment, experiment, word);
    name_attempt(experiment, word, out);
    if (strchr(out->name, '/') != NULL || out->name[0] == '.' ||
        !is_there(experiment, out->name))
        return err_set(err, ERR_CONFIG,
                       "%s has no trial '%.40s': expected one of those in "
                       "%s/" FOLDER_TRIALS ", such as 0 or 00000",
                       experiment, word, experiment);
    out->folder = folder_of(experiment, out->name);
    return out->folder == NULL ? err_set(err, ERR_MEMORY, "out of memory") : 0;
}

/* SPDX-License-Identifier: MIT */
#include "manager/absent.h"

#include "config/experiment.h"
#include "core/buf.h"
#include "core/file.h"
#include "core/grow.h"
#include "core/nearest.h"
#include "json.h"
#include "manager/environment.h"
#include "manager/progress.h"
#include "manager/trial.h"
#include "trial/files.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define READ_MAX ((size_t)1 << 20)
#define TOLD_MAX (sizeof((struct absent *)0)->told / sizeof(char *))

static void
add_name(void *ctx, const char *name)
{
    struct absent *a = ctx;

    if (GROW(a->names, a->n, a->cap) != 0)
        return;
    a->names[a->n] = strdup(name);
    a->n += a->names[a->n] != NULL;
}

static void
read_space(struct absent *a)
{
    const char *space = a->x->search_space;
    struct json *doc =
        a->n > 0 || space == NULL
            ? NULL
            : json_parse(space, strlen(space), JSON_STRICT, NULL);

    if (doc != NULL)
        environment_names(json_root(doc), add_name, a);
    json_free(doc);
}

/* Whether one is the other, or what a slash and more follow. */
static bool
leads_to(const char *name, const char *other)
{
    size_t len = strlen(name);

    return strncmp(name, other, len) == 0 &&
           (other[len] == '\0' || other[len] == '/');
}

/* A choice that is nested, or whose values are objects, is asked for in parts
 * and as a whole. */
static bool
is_of_space(const struct absent *a, const char *name)
{
    for (size_t i = 0; i < a->n; i++)
        if (leads_to(a->names[i], name) || leads_to(name, a->names[i]))
            return true;
    return false;
}

/* Of a tuner that is not this experiment's, or not always: the program may be
 * written for several. */
static bool
is_of_a_tuner(const char *name)
{
    return strcmp(name, TRIAL_BUDGET_PARAMETER) == 0 ||
           parameters_is_folder(name);
}

static bool
was_told(const struct absent *a, const char *name)
{
    for (size_t i = 0; i < a->n_told; i++)
        if (strcmp(a->told[i], name) == 0)
            return true;
    return a->n_told == TOLD_MAX;
}

static void
tell(struct absent *a, const struct trial *t, const char *name)
{
    char *own = strdup(name), hint[300];

    if (own == NULL)
        return;
    a->told[a->n_told++] = own;
    progress_warn(a->progress,
                  "tunepipe: warning: trial %s asked for the parameter '%s', "
                  "which the search space does not have%s: nothing tunes it",
                  t->id, name,
                  nearest_hint(name, (const char *const *)a->names, a->n, hint,
                               sizeof hint));
}

void
absent_look(struct absent *a, const struct trial *t)
{
    char *path = t->folder == NULL ? NULL /* none of its files is looked at */
                                   : file_join(t->folder, TRIAL_ABSENT);
    char *rest = NULL, *name;
    struct buf text;

    buf_init(&text, READ_MAX);
    if (path != NULL && a->n_told < TOLD_MAX &&
        file_read_plain(path, 2 * TRIAL_NOTE_MAX, &text, NULL) == 0) {
        read_space(a);
        rest = text.len > 0 ? buf_take(&text) : NULL;
    }
    for (char *at = rest; at != NULL && (name = strsep(&at, "\n")) != NULL;)
        if (name[0] != '\0' && !was_told(a, name) && a->n > 0 &&
            !is_of_space(a, name) && !is_of_a_tuner(name))
            tell(a, t, name);
    free(rest);
    buf_fini(&text);
    free(path);
}

void
absent_hear_end(void *ctx, const struct attempt_end *end)
{
    absent_look(ctx, end->trial);
}

void
absent_close(struct absent *a)
{
    for (size_t i = 0; i < a->n; i++)
        free(a->names[i]);
    for (size_t i = 0; i < a->n_told; i++)
        free(a->told[i]);
    free(a->names);
}

/* SPDX-License-Identifier: MIT */
#include "cli/checked.h"

#include "cli/direction.h"
#include "cli/module.h"
#include "cli/verb.h"
#include "config/experiment.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/problems.h"
#include "json.h"
#include "manager/command_template.h"
#include "manager/environment.h"
#include "manager/imports.h"
#include "manager/parameters.h"
#include "space/space.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PLACE_MAX 1024

/* Whether a trial of this tuner has one of the sets that the search space
 * lists, and no parameters of its own. */
static bool
is_batch(const char *tuner)
{
    return tuner != NULL && (strcasecmp(tuner, "batch") == 0 ||
                             strcmp(tuner, "BatchTuner") == 0);
}

/* Whether trials of this tuner have the parameters of the search space alone,
 * as far as is known: programs may give others, too. */
static bool
gives_no_other(const struct experiment *x)
{
    return x->tuner.name != NULL && x->tuner.class_name == NULL &&
           strcmp(x->tuner.name, "exec") != 0 && !is_batch(x->tuner.name);
}

static void
check_enqueued(const struct experiment *x, const struct space *space,
               const char *file, struct problems *problems)
{
    char place[PLACE_MAX];

    for (size_t i = 0; i < x->n_enqueued; i++) {
        const struct enqueued *e = &x->enqueued[i];
        struct json *set =
            e->parameters == NULL
                ? NULL /* no map, which is told already */
                : json_parse(e->parameters, strlen(e->parameters), JSON_STRICT,
                             NULL);
        struct err err = {0};
        struct buf text;

        buf_init(&text, SIZE_MAX / 2);
        snprintf(place, sizeof place, "%s:%u: enqueue[%zu]", file, e->line, i);
        if (set != NULL &&
            parameters_complete(space, json_root(set), 0, &text, &err) != 0)
            problems_add(problems, place, "%s", err.text);
        if (i == 0 && is_batch(x->tuner.name))
            problems_add(problems, place,
                         "not with the tuner batch, whose sets are all that is "
                         "tried");
        if (x->max_trials == i && i > 0)
            problems_add(problems, place,
                         "is one more than maxTrialNumber, %zu", i);
        buf_fini(&text);
        json_free(set);
    }
}

/* What commands may name, and where what is wrong goes. */
struct names {
    const struct space *space;
    struct jval written; /* the search space as it is written */
    bool has_all;        /* trials have no other parameters */
    const char *file;
    struct problems *problems, *notes;
};

/* Checks what a command names of the search space. */
static void
check_command(const struct names *n, const struct command_config *c,
              const char *key)
{
    char place[PLACE_MAX];

    if (c->text == NULL)
        return;
    snprintf(place, sizeof place, "%s:%u", n->file, c->line);
    command_template_check(c->text, n->space, place, key, n->problems);
    command_template_note(c->text, n->space, n->written, n->has_all, place, key,
                          n->notes);
}

/* Checks the search space, whose mistakes src/space words, and what commands
 * name of it, also where other keys are wrong, so that all is told at once. */
static void
check_space(const struct experiment *x, const char *file,
            struct problems *problems, struct problems *notes)
{
    struct json *doc =
        json_parse(x->search_space, strlen(x->search_space), JSON_STRICT, NULL);
    char *rest, *line, place[PLACE_MAX];
    struct problems inner;
    struct space *space;

    if (doc == NULL)
        return; /* we have written it ourselves; the dispatcher tells */
    problems_init(&inner);
    space = space_parse(json_root(doc), &inner);
    space_check_nested(json_root(doc), &inner);
    buf_text(&inner.lines);
    rest = inner.lines.data;
    while (inner.count > 0 && (line = strsep(&rest, "\n")) != NULL)
        if (line[0] != '\0') {
            experiment_space_place(x, line, place, sizeof place);
            problems_add(problems, place, "%s", line);
        }
    problems_fini(&inner);
    environment_check_names(json_root(doc), x->space_place, notes);
    if (space != NULL) {
        const struct names names = {space, json_root(doc), gives_no_other(x),
                                    file,  problems,       notes};

        check_command(&names, &x->prepare_command, "prepareCommand");
        check_command(&names, &x->trial_command, "trialCommand");
        check_enqueued(x, space, file, problems);
    }
    space_free(space);
    json_free(doc);
}

/* Refuses a policy that drops segments for trials in step: a resumed manager
 * needs what such trials had been told from their first report on, which may
 * stand in any segment. */
static void
check_segments(const struct experiment *x, const char *file,
               struct problems *problems)
{
    if (x->deterministic && x->segments.old == OLD_DROP)
        problems_add(problems, file,
                     "oldSegments: drop: not with deterministic, which has to "
                     "be able to read the whole log: expected keep or "
                     "compress");
}

/* Checks that an index can be written: a failure later on nobody would see. */
static void
check_index(const struct experiment *x, const char *file,
            struct problems *problems)
{
    struct err err;

    if (x->index && database_load("index: true", &err) == NULL)
        problems_add(problems, file, "%s", err.text);
}

static void
set_import(struct experiment *x, const char *import, struct problems *problems)
{
    char why[128];

    if (import == NULL)
        return;
    free(x->import);
    x->import = realpath(import, NULL);
    if (x->import == NULL)
        problems_add(problems, "--import", "cannot open %s: %s", import,
                     strerror_r(errno, why, sizeof why));
}

/* Checks what the file alone does not tell; file: its name as it was given. */
static void
check(struct experiment *x, const char *file, const struct checked *with,
      struct problems *problems, struct problems *notes)
{
    struct buf lines;
    struct err err;

    x->deterministic |= with->deterministic;
    check_segments(x, file, problems);
    check_index(x, file, problems);
    if (direction_check(x, file, &err) != 0)
        problems_add(problems, "", "%s", err.text);
    set_import(x, with->import, problems);
    buf_init(&lines, SIZE_MAX / 2);
    imports_load(x, &lines, problems, notes);
    buf_fini(&lines);
}

struct experiment *
checked_read(const char *file, const struct checked *with,
             struct problems *problems, struct err *err)
{
    struct problems notes;
    struct experiment *x;

    problems_init(&notes);
    x = experiment_read_checked(file, with->use, with->overrides, check_space,
                                problems, &notes, err);
    if (x != NULL)
        check(x, file, with, problems, &notes);
    fputs(buf_text(&notes.lines), stderr);
    problems_fini(&notes);
    return x;
}

int
checked_refuse(const char *verb, const struct err *err,
               struct problems *problems)
{
    if (problems->count <= 1)
        return verb_fail(verb, err);
    fputs(buf_text(&problems->lines), stderr);
    fprintf(stderr, "tunepipe %s: error: %zu mistakes in the configuration\n",
            verb, problems->count);
    return EXIT_CONFIG;
}

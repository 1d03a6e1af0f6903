/* SPDX-License-Identifier: MIT */
#include "core/err.h"
#include "core/log.h"
#include "core/problems.h"
#include "dispatcher/tuning_state.h"
#include "json.h"
#include "plugin/loader.h"
#include "plugin/tuner.h"
#include "space/space.h"
#include "tunepipe/tuner.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* As the tuner wants it; takes the space and gives it back, or NULL. */
static struct space *
shape_space(struct tuning *t, struct space *space, struct err *why)
{
    if (!(tuner_plugin(t->tuner)->tuner.flags & TP_TUNER_WHOLE) ||
        space_make_whole(space, why) == 0)
        return space;
    err_place(why, "tuner %s", tuner_plugin(t->tuner)->name);
    tuning_complain(t, why->text);
    space_free(space);
    return NULL;
}

/* The first problem, and how many there are. */
static void
sum_up(const char *lines, struct err *why)
{
    size_t n = 0;

    for (const char *at = lines; *at != '\0'; at++)
        n += *at == '\n';
    err_set(why, ERR_INPUT, "search space: %.*s", (int)strcspn(lines, "\n"),
            lines);
    if (n > 1) {
        struct err first = *why;

        err_set(why, ERR_INPUT, "%s (and %zu more)", first.text, n - 1);
    }
}

/* All problems are told, each in its line. */
static struct space *
parse_space(struct tuning *t, const struct json *doc, struct err *why)
{
    struct problems problems;
    struct space *space;
    const char *line;

    problems_init(&problems);
    space = space_parse(json_root(doc), &problems);
    if (space == NULL)
        sum_up(buf_text(&problems.lines), why);
    for (line = buf_text(&problems.lines); *line != '\0';) {
        size_t len = strcspn(line, "\n");

        log_error(t->log, "command %" PRIu64 " (%s): search space: %.*s",
                  t->arrival, t->code, (int)len, line);
        line += len + (line[len] == '\n');
    }
    problems_fini(&problems);
    return space == NULL ? NULL : shape_space(t, space, why);
}

/* For the tuner all points of the old space have ended. */
static void
tell_outdated(struct tuning *t, struct trial *const *trials, size_t n)
{
    struct err err;

    for (size_t i = 0; i < n; i++) {
        struct trial *trial = trials[i];

        if (!trial->ended && !trial->foreign &&
            tuner_ended(t->tuner, tuning_id(t, trial), trial->x,
                        TP_ENDED_OUTDATED, &err) != 0)
            tuning_plugin_failed(t, &err);
        trial->foreign = true;
    }
}

/* What fits into the new space can still be told, as imported, when its
 * result comes. */
static void
move_trials(struct tuning *t, struct trial *const *trials, size_t n,
            const struct space *to, double *y)
{
    for (size_t i = 0; i < n; i++) {
        struct trial *trial = trials[i];

        if (trial->unfit ||
            space_project(t->space, trial->x, to, y, NULL) != 0 ||
            trial_move(trial, y, space_dims(to)->n_dims) != 0)
            trial->unfit = true;
    }
}

/* Takes space and x where the tuner accepts; false: they are the caller's. */
static bool
change_space(struct tuning *t, struct space *space, double *x,
             struct trial *const *trials, size_t n, struct err *why)
{
    tell_outdated(t, trials, n);
    tuning_release_all(t);
    if (tuner_space(t->tuner, space, why) != 0) {
        tuning_plugin_failed(t, why);
        return false;
    }
    move_trials(t, trials, n, space, x);
    space_free(t->space);
    free(t->x);
    t->space = space;
    t->x = x;
    t->news = true;
    return true;
}

bool
tuning_set_space(struct tuning *t, const struct json *doc, struct err *why)
{
    struct space *space = parse_space(t, doc, why);
    struct trial **trials;
    bool changed;
    size_t n;
    double *x;

    if (space == NULL)
        return false;
    trials = trials_sorted(t->trials, &n);
    x = malloc(space_dims(space)->n_dims * sizeof *x + 1);
    if (trials == NULL || x == NULL)
        tuning_out_of_memory(t);
    changed = !t->fatal && change_space(t, space, x, trials, n, why);
    if (!changed) {
        space_free(space);
        free(x);
    }
    free(trials);
    return changed;
}

void
tuning_refuse_space(struct tuning *t, const struct err *why)
{
    if (t->fatal)
        return;
    if (t->policy->extensions)
        tuning_no_more(t, t->next_id, NO_FAILED, 0);
    if (!t->policy->nni)
        return;
    t->fatal = true;
    err_set(t->failure, ERR_CONFIG, "command %" PRIu64 " (%s): %s", t->arrival,
            t->code, why->text);
}

bool
tuning_same_space(const struct tuning *t, const struct json *doc)
{
    struct json *now = NULL;
    struct buf text;
    bool same;

    buf_init(&text, SIZE_MAX / 2);
    space_write(t->space, &text);
    if (!text.failed)
        now = json_parse(buf_text(&text), text.len, JSON_NAN, NULL);
    same = now != NULL && jval_equal(json_root(now), json_root(doc));
    json_free(now);
    buf_fini(&text);
    return same;
}

void
tuning_emit_initialized(struct tuning *t, const struct command *cmd)
{
    tuning_emit(
        t, (struct emission){.code = CMD_INITIALIZED, .number = cmd->position});
}

void
tuning_initialize(struct tuning *t, const struct command *cmd)
{
    struct err why;

    if (t->space != NULL && t->policy->nni) {
        reunion_begin(&t->reunion, cmd);
        return;
    }
    if (t->space != NULL) {
        tuning_complain(
            t, "the search space is set already, expected SS to change "
               "it");
        return;
    }
    if (tuning_set_space(t, cmd->document, &why))
        tuning_emit_initialized(t, cmd);
    else
        tuning_refuse_space(t, &why);
}

void
tuning_update(struct tuning *t, const struct command *cmd)
{
    struct err why;

    if (tuning_has_space(t))
        tuning_set_space(t, cmd->document, &why);
}

/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * A request for n trials takes n consecutive ids, which are used up whether or
 * not they are served, but for those that a stop leaves owed (reopen()).
 * serve_one() asks the tuner for one id after the other until it refuses; ids
 * that it would rather serve later (TP_LATER) become owed and are tried again,
 * oldest first, at the end of each command that told the tuner something.  NO
 * is written once for a request that was not fully served.  Under policy
 * `reissue` a unit at which the tuner failed is owed, too. */

#include "dispatcher/tuning.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/log.h"
#include "core/pack.h"
#include "core/problems.h"
#include "dispatcher/advice.h"
#include "dispatcher/explainer.h"
#include "dispatcher/marks.h"
#include "dispatcher/owed.h"
#include "dispatcher/reunion.h"
#include "dispatcher/side.h"
#include "dispatcher/trials.h"
#include "dispatcher/view.h"
#include "json.h"
#include "objectives/objectives.h"
#include "plugin/demands.h"
#include "plugin/loader.h"
#include "plugin/tuner.h"
#include "quote.h"
#include "space/space.h"
#include "tunepipe/tuner.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A tuner's side. */
struct tuning {
    struct side side;
    struct tuner *tuner;
    /* Is told why an answer is given; NULL: nobody. */
    const struct explainer *explainer;
    struct space *space; /* NULL before IN */
    struct trials *trials;
    struct owed owed;
    struct reunion reunion;
    struct advice advice;
    uint64_t next_id;
    double *x;       /* scratch, n_dims long: the point being asked for */
    struct buf json; /* scratch: parameters being written */
    bool news;       /* this command told the tuner something */
    bool closed;
};

/* DESIGN.  Functions of a `void *side`, which is a struct tuning, are in its
 * reunion's table; those of a `struct side *` in the side's own. */

static struct tuning *
self(struct side *s)
{
    return (struct tuning *)s;
}

static const struct tuning *
tuning_of(const struct side *s)
{
    return (const struct tuning *)s;
}

/* ---- speaking ---- */

/* Sends NO: `units` suggestions of the request whose first id is `first` are
 * refused, or owed.  As NNI's advisors do it is sent once for each unit, to a
 * manager that does not know one NO for many. */
static void
no_more(struct tuning *t, uint64_t first, enum no_reason reason, uint64_t units)
{
    bool advises = tuner_plugin(t->tuner)->tuner.flags & TP_TUNER_UNITS;
    uint64_t n =
        advises && !t->side.policy->extensions && units > 0 ? units : 1;
    const struct emission no = {
        .code = CMD_NO_MORE,
        .parameter = parameter_named(first, advises ? "-1_0_0" : NULL),
        .reason = reason,
        .units = units};

    while (n-- > 0 && !t->side.fatal)
        side_emit(&t->side, no);
}

/* Tells the explainer what the dispatcher itself has to say. */
static void
tell_explainer(const struct tuning *t, const char *text)
{
    const struct host_listener *listener;

    if (t->explainer == NULL)
        return;
    listener = &t->explainer->listener;
    listener->said(listener->ctx, "tunepipe", text);
}

/* Whether an IN was taken; complains where none was. */
static bool
has_space(struct tuning *t)
{
    if (t->space == NULL)
        side_complain(&t->side, "no search space yet, expected IN first");
    return t->space != NULL;
}

/* ---- the tuner and a trial ---- */

/* The id by which the tuner knows the trial. */
static uint64_t
id_for_tuner(const struct tuning *t, const struct trial *trial)
{
    return t->side.policy->nni ? trial->tuner_id : trial->id;
}

/* Notes that the trial runs as that job; over: it has ended. */
static void
name_job(struct tuning *t, const struct trial *trial, const char *job,
         bool over)
{
    if (advice_name(&t->advice, id_for_tuner(t, trial), job, over) != 0)
        side_out_of_memory(&t->side);
}

/* Notes that the job runs that trial, as a metric or an end says. */
static void
note_run(struct tuning *t, const char *job, const struct trial *trial)
{
    reunion_ran(&t->reunion, job, trial);
    name_job(t, trial, job, false);
}

/* Sends what the tuner has decided on other trials meanwhile. */
static void
send_decisions(struct tuning *t)
{
    uint64_t id;
    int decision;

    while (tuner_next_decision(t->tuner, &id, &decision))
        if (!t->side.fatal)
            advice_decide(&t->advice, id, (enum trial_decision)decision);
}

/* Tells the tuner the result of a trial that had none. */
static void
tell_result(struct tuning *t, struct trial *trial, const char *job,
            struct tp_result *result)
{
    struct err err;

    result->_struct_size = sizeof *result;
    if (trial->foreign && trial->unfit) {
        const struct parameter_id id = parameter_named(trial->id, trial->label);

        side_complain_trial(&t->side, job, &id,
                            "it is of an older search space that does not "
                            "fit into this one: recorded, not told",
                            true);
    } else {
        if (trial->foreign)
            result->how = trial->foreign == TRIAL_CUSTOM ? TP_RESULT_CUSTOM
                                                         : TP_RESULT_IMPORTED;
        if (tuner_tell(t->tuner,
                       trial->foreign ? TP_NO_ID : id_for_tuner(t, trial),
                       trial->x, result, &err) != 0)
            side_failed(&t->side, &err);
        t->news = true;
    }
    trial->result_told = true;
}

static int
ended_how(const struct tuning *t, const struct trial_end *end)
{
    if (end->stopped)
        return TP_ENDED_STOPPED;
    switch (end->event) {
    case END_SUCCEEDED:
        return TP_ENDED_SUCCEEDED;
    case END_FAILED:
        return TP_ENDED_FAILED;
    case END_EARLY_STOPPED:
        return TP_ENDED_STOPPED;
    case END_PAUSED:
        return tuner_advises(t->tuner) ? TP_ENDED_PAUSED : TP_ENDED_CANCELLED;
    case END_USER_CANCELED:
    case END_SYS_CANCELED:
        break;
    }
    return TP_ENDED_CANCELLED;
}

/* Tells the tuner the end of a trial, which has ended for us, too. */
static void
end_trial(void *side, struct trial *trial, const struct trial_end *end)
{
    struct tuning *t = side;
    uint64_t id = id_for_tuner(t, trial);
    struct err err;

    if (!trial->foreign &&
        tuner_ended(t->tuner, id, trial->x, ended_how(t, end), &err) != 0)
        side_failed(&t->side, &err);
    advice_end(&t->advice, id, end->event == END_PAUSED);
    trial->ended = true;
    trials_settle(t->trials, trial);
}

/* ---- the search space ---- */

/* Makes a space the kind that the tuner wants.  Takes it, and returns it, or
 * NULL. */
static struct space *
shape_space(struct tuning *t, struct space *space, struct err *why)
{
    if (!(tuner_plugin(t->tuner)->tuner.flags & TP_TUNER_WHOLE) ||
        space_make_whole(space, why) == 0)
        return space;
    err_place(why, "tuner %s", tuner_plugin(t->tuner)->name);
    side_complain(&t->side, why->text);
    space_free(space);
    return NULL;
}

/* Sums up what is wrong with a search space: the first problem, and how many
 * there are. */
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

/* Reads a search space.  NULL: people are told each problem in its line, and
 * err sums them up. */
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

        log_error(t->side.log, "command %" PRIu64 " (%s): search space: %.*s",
                  t->side.arrival, t->side.input, (int)len, line);
        line += len + (line[len] == '\n');
    }
    problems_fini(&problems);
    return space == NULL ? NULL : shape_space(t, space, why);
}

/* Tells the tuner that all points of the old space have ended. */
static void
tell_outdated(struct tuning *t, struct trial *const *trials, size_t n)
{
    struct err err;

    for (size_t i = 0; i < n; i++) {
        struct trial *trial = trials[i];

        if (!trial->ended && !trial->foreign &&
            tuner_ended(t->tuner, id_for_tuner(t, trial), trial->x,
                        TP_ENDED_OUTDATED, &err) != 0)
            side_failed(&t->side, &err);
        if (!trial->foreign)
            trial->foreign = TRIAL_RECOVERED;
    }
}

/* Moves the points of unfinished trials into the new space.  Where one fits,
 * its result can still be told, as an imported one. */
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

/* Makes the space and x ours, where the tuner accepts the space; false: they
 * stay the caller's. */
static bool
change_space(struct tuning *t, struct space *space, double *x,
             struct trial *const *trials, size_t n, struct err *why)
{
    tell_outdated(t, trials, n);
    if (advice_release_all(&t->advice) != 0)
        side_out_of_memory(&t->side);
    if (tuner_space(t->tuner, space, why) != 0) {
        side_failed(&t->side, why);
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

/* Makes the search space in doc that of this side; false: people were told why
 * not, err sums it up, and the space is as before. */
static bool
set_space(struct tuning *t, const struct json *doc, struct err *why)
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
        side_out_of_memory(&t->side);
    changed = !t->side.fatal && change_space(t, space, x, trials, n, why);
    if (!changed) {
        space_free(space);
        free(x);
    }
    free(trials);
    return changed;
}

/* Refuses the search space of an IN.  NNI's managers send no other, and would
 * wait for ever: their session ends. */
static void
refuse_space(struct tuning *t, const struct err *why)
{
    if (t->side.fatal)
        return;
    if (t->side.policy->extensions)
        no_more(t, t->next_id, NO_FAILED, 0);
    if (!t->side.policy->nni)
        return;
    t->side.fatal = true;
    err_set(t->side.failure, ERR_CONFIG, "command %" PRIu64 " (%s): %s",
            t->side.arrival, t->side.input, why->text);
}

static void
emit_initialized(struct tuning *t, const struct command *cmd)
{
    side_emit(&t->side, (struct emission){.code = CMD_INITIALIZED,
                                          .number = cmd->position});
}

/* ---- PL ---- */

static void
handle_plan(struct tuning *t, const struct command *cmd)
{
    struct err err;

    if (tuner_plan(t->tuner, cmd->planned, &err) != 0)
        side_failed(&t->side, &err);
}

/* ---- suggestions ---- */

/* Appends the parameters that a trial received, as JSON. */
static void
write_point(const void *side, const struct trial *trial, struct buf *out)
{
    const struct tuning *t = side;

    if (trial->parameters != NULL)
        buf_add_text(out, trial->parameters);
    else
        space_decode(t->space, trial->x, out);
}

/* Whether TR has the bare form in which NNI's advisors write it. */
static bool
is_bare(const struct tuning *t)
{
    return (tuner_plugin(t->tuner)->tuner.flags & TP_TUNER_UNITS) != 0 &&
           !t->side.policy->extensions;
}

/* Writes a budget; one that is a whole number of results as an integer. */
static void
write_budget(struct buf *out, double budget)
{
    if (budget < 9e15 && budget == (double)(uint64_t)budget)
        buf_printf(out, "%" PRIu64, (uint64_t)budget);
    else
        json_write_double(out, budget);
}

/* Writes what a trial receives: the parameters, and what the tuner adds to
 * them. */
static void
write_parameters(struct tuning *t, const struct tuner_terms *terms)
{
    struct json_writer w;

    buf_clear(&t->json);
    space_decode(t->space, t->x, &t->json);
    if (terms->n_extras == 0 && !(terms->budget > 0))
        return;
    w = json_reopen_object(&t->json);
    for (size_t i = 0; i < terms->n_extras; i++)
        json_add_text(&w, terms->extras[i].key, terms->extras[i].text);
    if (terms->budget > 0)
        write_budget(json_value(&w, "TRIAL_BUDGET"), terms->budget);
    json_close(&w);
}

/* Keeps the parameters of a suggestion that NNI's manager may lose, where the
 * point alone does not tell all of them. */
static int
keep_parameters(struct tuning *t, struct trial *trial,
                const struct tuner_terms *terms)
{
    bool more = terms->n_extras > 0 || terms->budget > 0;

    if (!t->side.policy->nni || !(tuner_advises(t->tuner) || more))
        return 0;
    trial->parameters = strdup(buf_text(&t->json));
    return trial->parameters == NULL ? -1 : 0;
}

/* For a suggestion that goes on from another one: t->x becomes the point with
 * which that was given out, which a filter may have moved. */
static void
take_origin_point(struct tuning *t, const struct tuner_terms *terms)
{
    const double *x = terms->from_how == TP_PROMOTED
                          ? advice_point(&t->advice, terms->from)
                          : NULL;

    if (x != NULL)
        memcpy(t->x, x, space_dims(t->space)->n_dims * sizeof *x);
}

/* Writes into a TR which suggestion's checkpoint its trial goes on from. */
static void
write_origin(const struct tuning *t, const struct tuner_terms *terms,
             struct parameter_record *record)
{
    if (terms->from_how == TP_ANEW || !t->side.policy->extensions)
        return;
    record->resume_from = advice_job(&t->advice, terms->from);
    record->resume_how = terms->from_how == TP_PROMOTED ? "promoted" : "cloned";
    if (record->resume_from == NULL)
        log_warning(t->side.log,
                    "command %" PRIu64 " (%s): suggestion %" PRIu64
                    " is to go on from %" PRIu64 ", of whose trial nothing is "
                    "known, or any more: it starts anew",
                    t->side.arrival, t->side.input, record->id, terms->from);
}

/* Sends the TR of a suggestion whose parameters t->json holds. */
static void
send_suggestion(struct tuning *t, struct parameter_record *record)
{
    reunion_launch(&t->reunion, record->id, record->label);
    record->parameters = buf_text(&t->json);
    record->parameters_len = t->json.len;
    record->bare = is_bare(t);
    side_emit(&t->side,
              (struct emission){.code = CMD_NEW_TRIAL, .gives = record});
}

static int
refuse_label(struct tuning *t, uint64_t id, const char *label)
{
    struct err err;

    err_set(&err, ERR_PLUGIN,
            "tuner %s: label '%s' of suggestion %" PRIu64
            " is in use, expected a new one",
            tuner_plugin(t->tuner)->name, label, id);
    side_failed(&t->side, &err);
    return TP_ERR;
}

static int
refuse_point(struct tuning *t, uint64_t id)
{
    struct err err;

    err_set(&err, ERR_INPUT,
            "the parameters of trial %" PRIu64
            " are more than %zu bytes of JSON, expected shorter choices, or "
            "there is no memory for them",
            id, t->json.max);
    side_complain(&t->side, err.text);
    return TP_ERR;
}

/* Gives out the point in t->x as what the tuner suggests under that id.
 * Returns a TP_ code. */
static int
give_out(struct tuning *t, uint64_t id, const char *label,
         const struct tuner_terms *terms)
{
    struct parameter_record record = {.id = id, .label = label};
    struct parameter_id named = parameter_named(id, label);
    struct trial *trial;

    take_origin_point(t, terms);
    write_parameters(t, terms);
    if (t->json.failed)
        return refuse_point(t, id);
    trial =
        trials_add(t->trials, id, label, t->x, space_dims(t->space)->n_dims);
    if (trial == NULL) {
        if (label != NULL && trials_find(t->trials, &named) != NULL)
            return refuse_label(t, id, label);
        side_out_of_memory(&t->side);
        return TP_ERR;
    }
    trial->tuner_id = id;
    if (terms->own &&
        advice_know(&t->advice, id, t->x, space_dims(t->space)->n_dims) != 0)
        side_out_of_memory(&t->side);
    if (keep_parameters(t, trial, terms) != 0)
        side_out_of_memory(&t->side);
    write_origin(t, terms, &record);
    send_suggestion(t, &record);
    send_decisions(t);
    return TP_OK;
}

/* ---- results from elsewhere ---- */

/* Reads the value of an imported result; `taken` has room for those of the
 * objectives. */
static int
read_result(const struct tuning *t, struct jval value,
            struct objective_values *taken, struct tp_result *result,
            struct err *err)
{
    const struct objectives *o = t->side.policy->objectives;
    char shown[QUOTE_MAX];
    const char *problem;

    if (o == NULL)
        return metric_read_value(value, &result->value, &problem)
                   ? 0
                   : err_set(err, ERR_INPUT, "%s: %s", problem,
                             jval_quote(shown, value));
    if (objectives_take(o, value, taken, err) != 0)
        return -1;
    result->value = taken->values[0];
    result->values = taken->values;
    result->n_values = o->n;
    result->violation = taken->violation;
    return 0;
}

/* Imports one element of FD.  -1: err says why not. */
static int
import_one(void *side, struct jval entry, struct err *err)
{
    struct tuning *t = side;
    struct objective_values taken;
    struct tp_result result = {._struct_size = sizeof result,
                               .how = TP_RESULT_IMPORTED};
    struct jval parameters, value;

    if (!jval_get(entry, "parameter", &parameters))
        return err_set(err, ERR_INPUT, "no 'parameter'");
    if (!jval_get(entry, "value", &value))
        return err_set(err, ERR_INPUT, "no 'value'");
    if (read_result(t, value, &taken, &result, err) != 0)
        return -1;
    if (space_encode(t->space, parameters, t->x, err) != 0)
        return -1;
    return tuner_tell(t->tuner, TP_NO_ID, t->x, &result, err);
}

/* Tells that an element of FD or AD could not be used; it alone is lost, unless
 * there was no memory for it. */
static void
refuse_element(void *side, size_t i, struct err *err)
{
    struct tuning *t = side;

    err_place(err, "[%zu]", i);
    if (err->code == ERR_PLUGIN)
        side_failed(&t->side, err);
    else if (err->code == ERR_MEMORY)
        side_out_of_memory(&t->side);
    else
        side_complain(&t->side, err->text);
}

/* ---- a manager that is started again, see reunion.h ---- */

static void
write_space(const void *side, struct buf *out)
{
    space_write(((const struct tuning *)side)->space, out);
}

static void
begin_again(void *side, const struct command *cmd, bool same)
{
    struct tuning *t = side;
    struct err why;

    owed_clear(&t->owed);
    if (same || set_space(t, cmd->space, &why))
        emit_initialized(t, cmd);
    else
        refuse_space(t, &why);
}

static void
tell_value(void *side, struct trial *trial, const char *job, double value)
{
    struct tp_result result = {.how = TP_RESULT_FINAL, .value = value};

    tell_result(side, trial, job, &result);
}

static void
give_again(void *side, const struct trial *trial, uint64_t was)
{
    struct tuning *t = side;
    char text[96];

    if (t->explainer != NULL)
        t->explainer->begin(t->explainer->listener.ctx);
    snprintf(text, sizeof text,
             "given out again: it was %" PRIu64 ", which was lost", was);
    tell_explainer(t, text);
    buf_clear(&t->json);
    write_point(t, trial, &t->json);
    if (t->json.failed)
        side_out_of_memory(&t->side);
    else
        send_suggestion(t, &(struct parameter_record){.id = trial->id,
                                                      .label = trial->label});
}

static const struct reunion_ops reunion_hands = {
    .write_space = write_space,
    .begin_again = begin_again,
    .write_parameters = write_point,
    .import = import_one,
    .refuse = refuse_element,
    .tell = tell_value,
    .end = end_trial,
    .give = give_again,
};

/* ---- IN and SS ---- */

static void
handle_initialize(struct tuning *t, const struct command *cmd)
{
    struct err why;

    if (t->space != NULL && t->side.policy->nni) {
        reunion_begin(&t->reunion, cmd);
        return;
    }
    if (t->space != NULL) {
        side_complain(&t->side,
                      "the search space is set already, expected SS to change "
                      "it");
        return;
    }
    if (set_space(t, cmd->space, &why))
        emit_initialized(t, cmd);
    else
        refuse_space(t, &why);
}

static void
handle_update(struct tuning *t, const struct command *cmd)
{
    struct err why;

    if (has_space(t))
        set_space(t, cmd->space, &why);
}

/* ---- GE ---- */

/* Asks the tuner for a suggestion under that id.  *label is the caller's to
 * free; *terms is set to what the tuner says beside the point.  Returns a TP_
 * code. */
static int
ask_tuner(struct tuning *t, uint64_t id, struct tuner_terms *terms,
          char **label)
{
    struct err err;
    int rc;

    if (t->explainer != NULL)
        t->explainer->begin(t->explainer->listener.ctx);
    rc = tuner_ask(t->tuner, id, t->x, label, &err);
    if (rc == TP_OK)
        *terms = *tuner_terms(t->tuner);
    if (rc != TP_ERR)
        return rc;
    side_failed(&t->side, &err);
    if (t->side.fatal || t->side.policy->ask_error == ASK_REFUSE)
        return TP_ERR;
    tell_explainer(t, err.text);
    tell_explainer(t, "in its place a sample of the prior (ask-error: prior)");
    space_sample(t->space, tuner_seed(t->tuner), id, t->x);
    if (space_check(t->space, t->x, &err) == 0)
        return TP_OK;
    err_place(&err, "a sample of the prior (ask-error: prior)");
    side_complain(&t->side, err.text);
    return TP_ERR;
}

/* Serves an id with a suggestion that the manager has lost, or else with one of
 * the tuner's.  Returns a TP_ code. */
static int
serve_one(struct tuning *t, uint64_t id)
{
    static const struct tuner_terms nothing = {.from = TP_NO_ID};
    struct tuner_terms terms = nothing;
    char *label = NULL;
    int rc;

    if (reunion_give_again(&t->reunion, id))
        return TP_OK;
    rc = ask_tuner(t, id, &terms, &label);
    if (rc == TP_OK)
        rc = give_out(t, id, label, &terms);
    free(label);
    return rc;
}

/* Refuses all owed ids: they will never be served. */
static void
refuse_owed(struct tuning *t, enum no_reason reason)
{
    uint64_t first = owed_first(&t->owed), units = t->owed.total;

    owed_clear(&t->owed);
    no_more(t, first, reason, units);
}

/* Whether no trial runs, whose end or result could change the tuner's mind. */
static bool
nothing_runs(const struct tuning *t)
{
    return trials_out(t->trials) == 0;
}

/* Warns that requests are refused as no trial runs; rc is what the tuner
 * answered, TP_ERR or TP_LATER. */
static void
warn_nothing_runs(struct tuning *t, int rc, uint64_t units)
{
    log_warning(t->side.log,
                "command %" PRIu64 " (%s): tuner %s %s but no trial is out: "
                "%" PRIu64 " requested trials are refused",
                t->side.arrival, t->side.input, tuner_plugin(t->tuner)->name,
                rc == TP_ERR ? "fails each time it is asked"
                             : "waits for results",
                units);
}

/* Whether an id is owed after that answer of the tuner's.  Under policy
 * `reissue` also one at which it failed: NNI's managers never ask again. */
static bool
is_owed(const struct tuning *t, int rc)
{
    return rc == TP_LATER || (rc == TP_ERR && t->side.policy->reissue);
}

/* Owes another id in the place of the first one: it may be that id at which the
 * tuner fails. */
static void
renew_first_owed(struct tuning *t)
{
    owed_pop(&t->owed);
    if (owed_add(&t->owed, t->next_id++, 1) != 0)
        side_out_of_memory(&t->side);
}

/* Serves what is owed, the oldest first, as long as the tuner does; returns its
 * last answer.  A tuner that fails is asked again at once where no trial runs
 * whose end would be a better moment. */
static int
ask_owed(struct tuning *t)
{
    int rc = TP_OK;

    for (int tries = 0; t->owed.total > 0 && !t->side.fatal;) {
        rc = serve_one(t, owed_first(&t->owed));
        if (rc == TP_OK) {
            owed_pop(&t->owed);
            continue;
        }
        if (rc != TP_ERR || !t->side.policy->reissue || t->side.fatal)
            break;
        renew_first_owed(t);
        if (!nothing_runs(t) || ++tries == POLICY_TRIES)
            break;
    }
    return rc;
}

/* Serves what is owed as long as the tuner does, and refuses it where the tuner
 * never will. */
static void
serve_owed(struct tuning *t)
{
    int rc = ask_owed(t);

    if (t->owed.total == 0 || t->side.fatal)
        return;
    if (!is_owed(t, rc)) {
        refuse_owed(t, rc == TP_DONE ? NO_EXHAUSTED : NO_FAILED);
    } else if (nothing_runs(t)) {
        warn_nothing_runs(t, rc, t->owed.total);
        refuse_owed(t, rc == TP_ERR ? NO_FAILED : NO_EXHAUSTED);
    }
}

static enum no_reason
reason_of(int rc)
{
    switch (rc) {
    case TP_LATER:
        return NO_LATER;
    case TP_DONE:
        return NO_EXHAUSTED;
    }
    return NO_FAILED;
}

/* Owes n ids from `next` on, at which the tuner failed, of the request whose
 * first id is `first`. */
static void
owe_failed(struct tuning *t, uint64_t first, uint64_t next, uint64_t n)
{
    int rc = TP_ERR;

    if (owed_add(&t->owed, next, n) != 0)
        side_out_of_memory(&t->side);
    else
        renew_first_owed(t);
    if (nothing_runs(t))
        rc = ask_owed(t);
    n = t->owed.total;
    if (n == 0 || t->side.fatal)
        return;
    if (is_owed(t, rc) && nothing_runs(t))
        warn_nothing_runs(t, rc, n);
    if (!is_owed(t, rc) || nothing_runs(t))
        owed_clear(&t->owed);
    no_more(t, first, reason_of(rc), n);
}

static void
handle_request(struct tuning *t, const struct command *cmd)
{
    uint64_t first = t->next_id, n = cmd->request.count, served = 0;
    int rc = TP_OK;

    if (cmd->request.problem != NULL)
        side_complain(&t->side, cmd->request.problem);
    if (cmd->request.problem != NULL || !has_space(t)) {
        no_more(t, first, NO_FAILED, n);
        return;
    }
    if (t->reunion.restarted)
        reunion_lose(&t->reunion, cmd);
    t->next_id += n;
    if (t->owed.total > 0)
        serve_owed(t);
    if (t->owed.total > 0)
        rc = TP_LATER; /* older owed ids are served first */
    while (rc == TP_OK && served < n && !t->side.fatal)
        if ((rc = serve_one(t, first + served)) == TP_OK)
            served++;
    if (served == n || t->side.fatal)
        return;
    if (rc == TP_ERR && t->side.policy->reissue) {
        owe_failed(t, first, first + served, n - served);
        return;
    }
    if (rc == TP_LATER && nothing_runs(t)) {
        warn_nothing_runs(t, rc, n - served);
        rc = TP_DONE;
    } else if (rc == TP_LATER &&
               owed_add(&t->owed, first + served, n - served) != 0) {
        side_out_of_memory(&t->side);
    }
    no_more(t, first, reason_of(rc), n - served);
}

/* ---- ME ---- */

/* How many values a tuner is lent: those of the objectives, not those that only
 * limits name. */
static size_t
n_lent(const struct tuning *t, const double *values)
{
    return values != NULL ? t->side.policy->objectives->n : 0;
}

static void
handle_final(struct tuning *t, const struct command *cmd)
{
    const struct metric *m = &cmd->metric;
    struct tp_result result = {.how = TP_RESULT_FINAL,
                               .value = m->value,
                               .values = m->values,
                               .n_values = n_lent(t, m->values),
                               .violation = m->violation};
    struct trial *trial;
    bool late;
    const char *why = reunion_refuse_result(&t->reunion, m, &trial, &late);

    if (m->parameter.kind == PARAMETER_NONE) {
        log_info(t->side.log,
                 "command %" PRIu64 " (ME): trial '%.64s' is the user's own: "
                 "its result is recorded, not told to the tuner",
                 t->side.arrival, m->job);
    } else if (why != NULL) {
        side_complain_trial(&t->side, m->job, &m->parameter, why, late);
    } else {
        note_run(t, m->job, trial);
        tell_result(t, trial, m->job, &result);
        trials_settle(t->trials, trial);
    }
}

/* Shows an intermediate result to a tuner that is an advisor; others leave them
 * to the assessor. */
static void
show_report(struct tuning *t, const struct command *cmd)
{
    const struct metric *m = &cmd->metric;
    struct trial *trial = trials_find(t->trials, &m->parameter);
    struct err err;
    int rc;

    if (!m->has_value || trial == NULL || trial->ended || trial->foreign)
        return; /* a trial that the user added, or of another search space */
    note_run(t, m->job, trial);
    if (t->side.fatal)
        return;
    rc = advice_report(&t->advice, id_for_tuner(t, trial), trial->x, cmd, &err);
    if (rc < 0)
        side_failed(&t->side, &err);
    t->news = t->news || rc != 0;
}

static void
handle_metric(struct tuning *t, const struct command *cmd)
{
    switch (cmd->metric.type) {
    case METRIC_FINAL:
        handle_final(t, cmd);
        return;
    case METRIC_REQUEST:
        side_complain_trial(
            &t->side, cmd->metric.job, &cmd->metric.parameter,
            "REQUEST_PARAMETER: trials of several phases are not "
            "supported, expected one GE a trial",
            false);
        return;
    case METRIC_PERIODICAL:
        show_report(t, cmd);
        return;
    }
}

/* Answers a synchronous report with AK: what is decided on its trial. */
static void
acknowledge_report(struct tuning *t, const struct command *cmd)
{
    const struct metric *m = &cmd->metric;
    const struct trial *trial = trials_find(t->trials, &m->parameter);

    side_emit(&t->side,
              (struct emission){
                  .code = CMD_ACKNOWLEDGE,
                  .job = m->job,
                  .number = m->sequence,
                  .decision = trial == NULL
                                  ? TRIAL_GO
                                  : advice_decision(&t->advice,
                                                    id_for_tuner(t, trial))});
}

/* ---- EN ---- */

static void
tell_stopped(struct tuning *t, struct trial *trial, const struct trial_end *end)
{
    const struct mark *mark = policy_mark(t->side.policy, end);
    struct tp_result result = {.how = TP_RESULT_STOPPED};

    if (mark == NULL)
        return;
    result.value = mark->value;
    result.step = mark->step;
    result.values = mark->values;
    result.n_values = n_lent(t, mark->values);
    result.violation = mark->violation;
    tell_result(t, trial, end->job, &result);
}

static void
end_one(struct tuning *t, const struct trial_end *end)
{
    struct trial *trial;
    bool late;
    const char *why = reunion_refuse_end(&t->reunion, end, &trial, &late);

    if (end->parameter.kind == PARAMETER_NONE)
        return; /* a trial that the user added, or that has no parameter id */
    if (why != NULL) {
        side_complain_trial(&t->side, end->job, &end->parameter, why, late);
        return;
    }
    name_job(t, trial, end->job, true);
    note_run(t, end->job, trial);
    if (end->stopped && !trial->result_told && !tuner_advises(t->tuner))
        tell_stopped(t, trial, end);
    end_trial(t, trial, end);
    t->news = true;
}

static void
handle_end(struct tuning *t, const struct command *cmd)
{
    end_one(t, &cmd->end);
    if (reunion_seek_lost(&t->reunion, cmd) > 0)
        t->news = true;
}

/* ---- FD ---- */

/* Takes in the FD of a restarted manager of NNI's. */
static void
import_of_restarted(struct tuning *t, const struct command *cmd)
{
    struct reunion_count n = reunion_import(&t->reunion, cmd);

    log_info(t->side.log,
             "command %" PRIu64 " (FD): %zu of %zu results imported, %zu were "
             "on record",
             t->side.arrival, n.told, n.all, n.known);
    t->news = true;
}

static void
handle_import(struct tuning *t, const struct command *cmd)
{
    struct jval list = json_root(cmd->document);
    size_t n = jval_count(list), imported = 0;
    struct err err;

    if (!has_space(t))
        return;
    if (t->side.policy->nni) {
        import_of_restarted(t, cmd);
        return;
    }
    for (size_t i = 0; i < n && !t->side.fatal; i++)
        if (import_one(t, jval_at(list, i), &err) == 0)
            imported++;
        else
            refuse_element(t, i, &err);
    log_info(t->side.log,
             "command %" PRIu64 " (FD): %zu of %zu results imported",
             t->side.arrival, imported, n);
    t->news = true;
}

/* ---- AD: trials that go on ---- */

static struct json *
read_point(const struct tuning *t, const double *x)
{
    struct buf text;
    struct json *doc;

    buf_init(&text, SIZE_MAX / 2);
    space_decode(t->space, x, &text);
    doc = json_parse(buf_text(&text), text.len, JSON_NAN, NULL);
    buf_fini(&text);
    return doc;
}

/* Whether the trial was given out with the parameters in t->x.  A point that
 * went through JSON and back need not be the same to the bit, and JavaScript
 * writes -0.0 as 0. */
static bool
is_out(const struct tuning *t, const struct trial *trial)
{
    struct json *now, *then;
    bool same;

    if (trial->unfit || trial->n_dims != space_dims(t->space)->n_dims)
        return false;
    now = read_point(t, t->x);
    then = read_point(t, trial->x);
    same = now != NULL && then != NULL &&
           jval_equal(json_root(now), json_root(then));
    json_free(now);
    json_free(then);
    return same;
}

static int
add_foreign(struct tuning *t, uint64_t id, enum trial_source source,
            struct err *err)
{
    struct trial *trial =
        trials_add(t->trials, id, NULL, t->x, space_dims(t->space)->n_dims);

    if (trial == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    trial->foreign = source;
    trial->tuner_id = id;
    if (id >= t->next_id)
        t->next_id = id + 1;
    return 0;
}

/* Replaces the point of a trial that the manager runs with other parameters
 * than were given out under its id: its result will be an import. */
static int
replace_point(struct tuning *t, struct trial *trial, struct err *err)
{
    if (!t->reunion.restarted || trial->ended)
        return err_set(err, ERR_INPUT,
                       "parameter_id %" PRIu64 " is in use already", trial->id);
    log_warning(t->side.log,
                "command %" PRIu64 " (AD): parameter_id %" PRIu64
                " runs with other parameters than were given out: its result "
                "will be imported",
                t->side.arrival, trial->id);
    if (!trial->foreign && tuner_ended(t->tuner, id_for_tuner(t, trial),
                                       trial->x, TP_ENDED_CANCELLED, err) != 0)
        side_failed(&t->side, err);
    advice_end(&t->advice, id_for_tuner(t, trial), false);
    if (trial_move(trial, t->x, space_dims(t->space)->n_dims) != 0)
        side_out_of_memory(&t->side);
    trial->foreign = TRIAL_RECOVERED;
    trial->unfit = false;
    return 0;
}

/* By parameter_source, which an earlier run of a tuner says differently. */
static enum trial_source
source_of(struct jval record)
{
    return strcmp(jval_text_of(record, "parameter_source"), "customized") == 0
               ? TRIAL_CUSTOM
               : TRIAL_RECOVERED;
}

/* Adds a trial from a record of AD: an earlier run gave it out and it has not
 * ended, or the user adds it. */
static int
recover_one(struct tuning *t, struct jval record, struct err *err)
{
    struct parameter_id which = {.kind = PARAMETER_NUMBER};
    struct jval v, parameters;
    char shown[QUOTE_MAX];
    struct trial *trial;

    if (!jval_get(record, "parameter_id", &v))
        return err_set(err, ERR_INPUT, "no 'parameter_id'");
    if (!jval_uint(v, &which.number) || which.number > MARKS_RECOVERED_MAX)
        return err_set(err, ERR_INPUT,
                       "parameter_id: expected an integer from 0 to %d, not %s",
                       MARKS_RECOVERED_MAX, jval_quote(shown, v));
    if (!jval_get(record, "parameters", &parameters))
        return err_set(err, ERR_INPUT, "no 'parameters'");
    if (t->reunion.restarted && trials_finished(t->trials, &which))
        /* has its result: what it reports now would be a second one */
        return 0;
    if (space_encode(t->space, parameters, t->x, err) != 0)
        return -1;
    if (owed_has(&t->owed, which.number))
        return err_set(err, ERR_INPUT, "parameter_id %" PRIu64 " is owed",
                       which.number);
    trial = trials_find(t->trials, &which);
    if (trial == NULL &&
        add_foreign(t, which.number, source_of(record), err) != 0)
        return -1;
    if (trial != NULL && !is_out(t, trial) && replace_point(t, trial, err) != 0)
        return -1; /* this record alone is lost */
    reunion_keep(&t->reunion, which.number, NULL);
    return 0;
}

/* Whether a record of AD is of a trial that the user added, or of a suggestion
 * with a label, which NNI's managers name, too. */
static bool
keep_special(struct tuning *t, struct jval record)
{
    enum reunion_record what;
    struct trial *trial;

    if (!t->side.policy->nni)
        return false;
    what = reunion_read(&t->reunion, record, &trial);
    if (what != RECORD_LABEL)
        return what == RECORD_USERS;
    reunion_keep(&t->reunion, trial->id, trial->label);
    return true;
}

static void
handle_custom(struct tuning *t, const struct command *cmd)
{
    struct jval list = json_root(cmd->document);
    size_t n = jval_count(list), recovered = 0;
    struct err err;

    if (!has_space(t))
        return;
    reunion_advise(&t->reunion);
    if (t->side.policy->nni && t->next_id == 0)
        t->next_id = 1; /* as NNI: behind the ids 0 to max(0, those of AD) */
    for (size_t i = 0; i < n && !t->side.fatal; i++)
        if (keep_special(t, jval_at(list, i)) ||
            recover_one(t, jval_at(list, i), &err) == 0)
            recovered++;
        else
            refuse_element(t, i, &err);
    log_info(t->side.log,
             "command %" PRIu64 " (AD): %zu of %zu unfinished trials known",
             t->side.arrival, recovered, n);
}

static void
adopt(struct side *s, const char *payload, size_t len)
{
    struct tuning *t = self(s);
    struct json *doc = json_parse(payload, len, JSON_STRICT, NULL);
    struct err err;

    side_begin(s, s->arrival, command_info(CMD_NEW_TRIAL)->code, &err);
    if (doc != NULL && t->space != NULL)
        recover_one(t, json_root(doc), &err);
    json_free(doc);
}

/* ---- all commands ---- */

static void (*const handlers[CMD_COUNT])(struct tuning *,
                                         const struct command *) = {
    [CMD_INITIALIZE] = handle_initialize, [CMD_REQUEST_TRIALS] = handle_request,
    [CMD_METRIC] = handle_metric,         [CMD_UPDATE_SPACE] = handle_update,
    [CMD_IMPORT] = handle_import,         [CMD_ADD_CUSTOM] = handle_custom,
    [CMD_TRIAL_END] = handle_end,         [CMD_PLAN] = handle_plan,
};

static bool
drops(const struct side *s, const struct command *cmd)
{
    return tuning_of(s)->closed && cmd->code == CMD_REQUEST_TRIALS;
}

static int
handle(struct side *s, const struct command *cmd, struct err *err)
{
    struct tuning *t = self(s);

    if (handlers[cmd->code] == NULL || drops(s, cmd))
        return 0;
    side_begin(s, cmd->arrival, command_info(cmd->code)->code, err);
    t->news = false;
    handlers[cmd->code](t, cmd);
    send_decisions(t);
    if (t->news && t->owed.total > 0 && !t->closed && !t->side.fatal)
        serve_owed(t);
    send_decisions(t);
    if (cmd->code == CMD_METRIC && cmd->metric.sync &&
        cmd->metric.type == METRIC_PERIODICAL && !t->side.fatal)
        acknowledge_report(t, cmd);
    if (cmd->code == CMD_TRIAL_END && cmd->end.sync && !t->side.fatal)
        side_emit(&t->side, (struct emission){/* all that follows is written */
                                              .code = CMD_ACKNOWLEDGE,
                                              .job = cmd->end.job,
                                              .ends = true});
    return side_end(s);
}

/* ---- packed ---- */

static void
save_space(const struct tuning *t, struct buf *out)
{
    struct buf text;

    buf_init(&text, SIZE_MAX / 2);
    if (t->space != NULL)
        space_write(t->space, &text);
    pack_bytes(out, text.data, text.len);
    out->failed = out->failed || text.failed;
    buf_fini(&text);
}

static int
save(const struct side *s, struct buf *out, struct err *err)
{
    const struct tuning *t = tuning_of(s);
    size_t len = out->len;
    int rc;

    pack_u64(out, t->next_id);
    pack_u64(out, t->closed);
    save_space(t, out);
    owed_save(&t->owed, out);
    trials_save(t->trials, out);
    reunion_save(&t->reunion, out);
    advice_save(&t->advice, out);
    rc = buf_check(out, "what a snapshot holds", err);
    if (rc == 0)
        rc = tuner_save(t->tuner, out, err);
    if (rc != 1)
        out->len = len;
    return rc;
}

static int
fail_damaged(struct err *err, const char *what)
{
    return err_set(err, ERR_LOG, "%s: damaged, or out of memory", what);
}

static struct space *
read_space(const struct tuning *t, struct unpack *in, struct err *err)
{
    struct problems problems;
    struct space *space;
    struct json *doc;
    const char *text;
    size_t len;

    text = unpack_bytes(in, &len);
    if (in->failed) {
        fail_damaged(err, "search space");
        return NULL;
    }
    doc = json_parse(text, len, JSON_NAN, err);
    if (doc == NULL) {
        err_place(err, "search space");
        return NULL;
    }
    problems_init(&problems);
    space = space_parse(json_root(doc), &problems);
    json_free(doc);
    if (problems_check(&problems, err) == 0 && space != NULL &&
        tuner_plugin(t->tuner)->tuner.flags & TP_TUNER_WHOLE &&
        space_make_whole(space, err) != 0) {
        space_free(space);
        space = NULL;
    }
    problems_fini(&problems);
    return space;
}

static int
load_space(struct tuning *t, struct unpack *in, struct err *err)
{
    struct space *space = read_space(t, in, err);

    if (space == NULL)
        return -1;
    t->x = malloc(space_dims(space)->n_dims * sizeof *t->x + 1);
    if (t->x == NULL)
        err_set(err, ERR_MEMORY, "search space: out of memory");
    if (t->x == NULL || tuner_space(t->tuner, space, err) != 0) {
        space_free(space);
        return -1;
    }
    t->space = space;
    return 0;
}

/* Whether a loaded trial can be shown to a tuner of this search space. */
static bool
is_sound(const struct tuning *t, const struct trial *trial)
{
    if (trial->id >= t->next_id)
        return false;
    if (trial->unfit)
        return trial->foreign;
    return trial->n_dims == space_dims(t->space)->n_dims &&
           space_has_indices(t->space, trial->x);
}

static int
check_trials(const struct tuning *t, struct err *err)
{
    size_t n;
    struct trial **sorted = trials_sorted(t->trials, &n);
    bool sound = true;

    if (sorted == NULL)
        return err_set(err, ERR_MEMORY, "trial table: out of memory");
    for (size_t i = 0; i < n; i++)
        sound = sound && is_sound(t, sorted[i]);
    free(sorted);
    return sound ? 0 : fail_damaged(err, "trials");
}

static int
load(struct side *s, struct unpack *in, struct err *err)
{
    struct tuning *t = self(s);

    t->next_id = unpack_u64(in);
    t->closed = unpack_bool(in);
    if (load_space(t, in, err) != 0)
        return -1;
    if (owed_load(&t->owed, in) != 0 || owed_end(&t->owed) > t->next_id)
        return fail_damaged(err, "owed ids");
    if (trials_load(t->trials, in) != 0)
        return fail_damaged(err, "trials");
    if (check_trials(t, err) != 0)
        return -1;
    if (reunion_load(&t->reunion, in, err) != 0)
        return -1;
    if (advice_load(&t->advice, t->space, t->next_id, in, err) != 0)
        return -1;
    return tuner_load(t->tuner, in, err);
}

/* ---- the side ---- */

static void
close_requests(struct side *s)
{
    self(s)->closed = true;
}

/* Voids what is owed.  No suggestion has had those ids: under policy `reclaim`
 * the next requests get them, so that they are given out as without the stop.
 * Below the id of a trial that the user has added since, they are burnt. */
static void
void_owed(struct tuning *t)
{
    if (t->side.policy->reclaim && t->owed.total > 0 &&
        owed_end(&t->owed) == t->next_id)
        t->next_id = t->owed.runs[t->owed.n_runs - 1].first;
    owed_clear(&t->owed);
}

static void
reopen(struct side *s)
{
    struct tuning *t = self(s);

    if (t->closed)
        void_owed(t);
    t->closed = false;
}

static void
bar(struct side *s, bool barred)
{
    tuner_bar(self(s)->tuner, barred);
}

static bool
is_set(const struct side *s)
{
    return tuning_of(s)->space != NULL;
}

static uint64_t
count_owed(const struct side *s)
{
    return tuning_of(s)->owed.total;
}

static void
see(const struct side *s, struct tuning_view *out, const struct viewer *viewer)
{
    const struct tuning *t = tuning_of(s);

    *out = (struct tuning_view){
        .has_space = t->space != NULL,
        .next_id = t->next_id,
        .trials = t->trials,
    };
    for (size_t i = 0; i < t->owed.n_runs; i++)
        viewer->owed(viewer->ctx, t->owed.runs[i].first, t->owed.runs[i].count);
}

static void
listen(struct side *s, const struct explainer *explainer)
{
    struct tuning *t = self(s);

    t->explainer = explainer;
    t->advice.explainer = explainer;
    tuner_listen(t->tuner, explainer == NULL ? NULL : &explainer->listener);
}

static const char *
argument(const struct side *s, const char *name)
{
    return tuner_argument(tuning_of(s)->tuner, name);
}

static void
describe(const struct side *s, struct json_writer *w)
{
    tuner_describe(tuning_of(s)->tuner, json_value(w, "tuner"));
    tuner_describe_filters(tuning_of(s)->tuner, json_value(w, "filters"));
}

static int
check_plugin(struct jval described, const char *key, const struct plugin *p,
             struct err *err)
{
    return p == NULL
               ? 0
               : side_check_version(described, key, p->name, p->version, err);
}

static int
check(const struct side *s, struct jval head, struct err *err)
{
    const struct tuner *tuner = tuning_of(s)->tuner;
    struct jval v;

    if (jval_get(head, "tuner", &v) &&
        check_plugin(v, "tuner", tuner_plugin(tuner), err) != 0)
        return -1;
    for (size_t i = 0; jval_get(head, "filters", &v) && i < jval_count(v); i++)
        if (check_plugin(jval_at(v, i), "filter", tuner_filter(tuner, i),
                         err) != 0)
            return -1;
    return 0;
}

static void
free_tuning(struct side *s)
{
    struct tuning *t = self(s);

    trials_free(t->trials);
    owed_fini(&t->owed);
    reunion_fini(&t->reunion);
    advice_fini(&t->advice);
    space_free(t->space);
    free(t->x);
    buf_fini(&t->json);
    side_fini(s);
    free(t);
}

struct side *
tuning_new(struct tuner *tuner, const struct policy *policy,
           struct emitter emitter, const struct log *log, struct err *err)
{
    static const struct side_ops ops = {
        .free = free_tuning,
        .command = handle,
        .drops = drops,
        .close = close_requests,
        .reopen = reopen,
        .bar = bar,
        .adopt = adopt,
        .is_set = is_set,
        .owed = count_owed,
        .see = see,
        .listen = listen,
        .save = save,
        .load = load,
        .argument = argument,
        .describe = describe,
        .check = check,
    };
    struct tuning *t = calloc(1, sizeof *t);

    if (t == NULL || (t->trials = trials_new()) == NULL) {
        free(t);
        err_set(err, ERR_MEMORY, "trial table: out of memory");
        return NULL;
    }
    side_init(&t->side, &ops, SENDER_DEFAULT, policy, emitter, log);
    t->tuner = tuner;
    reunion_init(&t->reunion, &reunion_hands, &t->side, t->trials);
    advice_init(&t->advice, tuner, &t->side);
    buf_init(&t->json, (size_t)64 << 20);
    return &t->side;
}

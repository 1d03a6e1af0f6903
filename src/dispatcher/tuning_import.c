/* SPDX-License-Identifier: MIT */
#include "core/err.h"
#include "core/log.h"
#include "dispatcher/marks.h"
#include "dispatcher/tuning_state.h"
#include "json.h"
#include "plugin/tuner.h"
#include "quote.h"
#include "space/space.h"
#include "tunepipe/tuner.h"

#include <inttypes.h>

int
tuning_import_one(struct tuning *t, struct jval entry, struct err *err)
{
    struct tp_result result = {._struct_size = sizeof result,
                               .how = TP_RESULT_IMPORTED};
    struct jval parameters, value;
    char shown[QUOTE_MAX];
    const char *problem;

    if (!jval_get(entry, "parameter", &parameters))
        return err_set(err, ERR_INPUT, "no 'parameter'");
    if (!jval_get(entry, "value", &value))
        return err_set(err, ERR_INPUT, "no 'value'");
    if (!metric_read_value(value, &result.value, &problem))
        return err_set(err, ERR_INPUT, "%s: %s", problem,
                       jval_quote(shown, value));
    if (space_encode(t->space, parameters, t->x, err) != 0)
        return -1;
    return tuner_tell(t->tuner, TP_NO_ID, t->x, &result, err);
}

void
tuning_refuse_element(struct tuning *t, size_t i, struct err *err)
{
    err_place(err, "[%zu]", i);
    if (err->code == ERR_PLUGIN)
        tuning_plugin_failed(t, err);
    else
        tuning_complain(t, err->text);
}

/* From a manager of NNI's. */
static void
reunite(struct tuning *t, const struct command *cmd)
{
    struct reunion_count n = reunion_import(&t->reunion, cmd);

    log_info(t->log,
             "command %" PRIu64 " (FD): %zu of %zu results imported, %zu were "
             "on record",
             t->arrival, n.told, n.all, n.known);
    t->news = true;
}

void
tuning_import(struct tuning *t, const struct command *cmd)
{
    struct jval list = json_root(cmd->document);
    size_t n = jval_count(list), imported = 0;
    struct err err;

    if (!tuning_has_space(t))
        return;
    if (t->policy->nni) {
        reunite(t, cmd);
        return;
    }
    for (size_t i = 0; i < n && !t->fatal; i++)
        if (tuning_import_one(t, jval_at(list, i), &err) == 0)
            imported++;
        else
            tuning_refuse_element(t, i, &err);
    log_info(t->log, "command %" PRIu64 " (FD): %zu of %zu results imported",
             t->arrival, imported, n);
    t->news = true;
}

/* ---- trials that go on ---- */

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

/* Whether it was given out with the parameters in t->x.  A point that went
 * through JSON and back need not be the same to the bit, and JavaScript writes
 * -0.0 as 0. */
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
add_foreign(struct tuning *t, uint64_t id, struct err *err)
{
    struct trial *trial =
        trials_add(t->trials, id, NULL, t->x, space_dims(t->space)->n_dims);

    if (trial == NULL)
        return err_set(err, ERR_INPUT,
                       "parameter_id %" PRIu64 " is in use already", id);
    trial->foreign = true;
    trial->theirs = id;
    if (id >= t->next_id)
        t->next_id = id + 1;
    return 0;
}

/* The manager runs other parameters than were given out under that id: what
 * comes of them is an import. */
static int
replace_point(struct tuning *t, struct trial *trial, struct err *err)
{
    if (!t->reunion.on || trial->ended)
        return err_set(err, ERR_INPUT,
                       "parameter_id %" PRIu64 " is in use already", trial->id);
    log_warning(t->log,
                "command %" PRIu64 " (AD): parameter_id %" PRIu64
                " runs with other parameters than were given out: its result "
                "will be imported",
                t->arrival, trial->id);
    if (!trial->foreign && tuner_ended(t->tuner, tuning_id(t, trial), trial->x,
                                       TP_ENDED_CANCELLED, err) != 0)
        tuning_plugin_failed(t, err);
    tuning_over(t, tuning_id(t, trial), false);
    if (trial_move(trial, t->x, space_dims(t->space)->n_dims) != 0)
        tuning_out_of_memory(t);
    trial->foreign = true;
    trial->unfit = false;
    return 0;
}

/* A record of a trial that an earlier run gave out and did not finish. */
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
    if (t->reunion.on && trials_finished(t->trials, &which))
        return 0; /* it has its result: what it reports now is its second */
    if (space_encode(t->space, parameters, t->x, err) != 0)
        return -1;
    if (owed_has(&t->owed, which.number))
        return err_set(err, ERR_INPUT, "parameter_id %" PRIu64 " is owed",
                       which.number);
    trial = trials_find(t->trials, &which);
    if (trial == NULL && add_foreign(t, which.number, err) != 0)
        return -1;
    if (trial != NULL && !is_out(t, trial) && replace_point(t, trial, err) != 0)
        return -1; /* else the manager had heard of it */
    reunion_keep(&t->reunion, which.number, NULL);
    return 0;
}

/* Whether a record is of the user's own trial, or of a suggestion with a name,
 * of which NNI's managers say, too. */
static bool
keep_special(struct tuning *t, struct jval record)
{
    enum reunion_record what;
    struct trial *trial;

    if (!t->policy->nni)
        return false;
    what = reunion_read(&t->reunion, record, &trial);
    if (what != RECORD_LABEL)
        return what == RECORD_USERS;
    reunion_keep(&t->reunion, trial->id, trial->label);
    return true;
}

void
tuning_custom(struct tuning *t, const struct command *cmd)
{
    struct jval list = json_root(cmd->document);
    size_t n = jval_count(list), recovered = 0;
    struct err err;

    if (!tuning_has_space(t))
        return;
    reunion_advise(&t->reunion);
    if (t->policy->nni && t->next_id == 0)
        t->next_id = 1; /* as NNI: behind the ids 0 to max(0, those of AD) */
    for (size_t i = 0; i < n && !t->fatal; i++)
        if (keep_special(t, jval_at(list, i)) ||
            recover_one(t, jval_at(list, i), &err) == 0)
            recovered++;
        else
            tuning_refuse_element(t, i, &err);
    log_info(t->log,
             "command %" PRIu64 " (AD): %zu of %zu unfinished trials known",
             t->arrival, recovered, n);
}

void
tuning_adopt(struct tuning *t, const char *payload, size_t len)
{
    struct json *doc = json_parse(payload, len, JSON_STRICT, NULL);

    if (doc != NULL && t->space != NULL)
        recover_one(t, json_root(doc), NULL);
    json_free(doc);
}

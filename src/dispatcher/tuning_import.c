/* SPDX-License-Identifier: MIT */
#include "core/err.h"
#include "core/log.h"
#include "dispatcher/marks.h"
#include "dispatcher/tuning_state.h"
#include "json.h"
#include "plugin/tuner.h"
#include "space/space.h"
#include "tunepipe/tuner.h"

#include <inttypes.h>
#include <string.h>

static int
import_one(struct tuning *t, struct jval entry, struct err *err)
{
    struct tp_result result = {._struct_size = sizeof result,
                               .how = TP_RESULT_IMPORTED};
    struct jval parameters, value;
    const char *problem;

    if (!jval_get(entry, "parameter", &parameters))
        return err_set(err, ERR_INPUT, "no 'parameter'");
    if (!jval_get(entry, "value", &value))
        return err_set(err, ERR_INPUT, "no 'value'");
    if (!metric_read_value(value, &result.value, &problem))
        return err_set(err, ERR_INPUT, "%s", problem);
    if (space_encode(t->space, parameters, t->x, err) != 0)
        return -1;
    return tuner_tell(t->tuner, TP_NO_ID, t->x, &result, err);
}

void
tuning_import(struct tuning *t, const struct command *cmd)
{
    struct jval list = json_root(cmd->document);
    size_t n = jval_count(list), imported = 0;
    struct err err;

    if (!tuning_has_space(t))
        return;
    for (size_t i = 0; i < n && !t->fatal; i++) {
        if (import_one(t, jval_at(list, i), &err) == 0) {
            imported++;
            continue;
        }
        err_place(&err, "[%zu]", i);
        if (err.code == ERR_PLUGIN)
            tuning_plugin_failed(t, &err);
        else
            tuning_complain(t, err.text);
    }
    log_info(t->log, "command %" PRIu64 " (FD): %zu of %zu results imported",
             t->arrival, imported, n);
    t->news = true;
}

/* A record of a trial that an earlier run gave out and did not finish. */
/* Whether it was given out with the parameters in t->x. */
static bool
is_out(struct tuning *t, uint64_t id)
{
    const struct parameter_id which = {PARAMETER_NUMBER, id, NULL};
    const struct trial *trial = trials_find(t->trials, &which);
    size_t n = space_dims(t->space)->n_dims;

    return trial != NULL && trial->n_dims == n &&
           memcmp(trial->x, t->x, n * sizeof *t->x) == 0;
}

static int
recover_one(struct tuning *t, struct jval record, struct err *err)
{
    struct jval v, parameters;
    struct trial *trial;
    uint64_t id;

    if (!jval_get(record, "parameter_id", &v) || !jval_uint(v, &id) ||
        id > MARKS_RECOVERED_MAX)
        return err_set(err, ERR_INPUT,
                       "parameter_id: expected an integer from 0 to %d",
                       MARKS_RECOVERED_MAX);
    if (!jval_get(record, "parameters", &parameters))
        return err_set(err, ERR_INPUT, "no 'parameters'");
    if (space_encode(t->space, parameters, t->x, err) != 0)
        return -1;
    if (owed_has(&t->owed, id))
        return err_set(err, ERR_INPUT, "parameter_id %" PRIu64 " is owed", id);
    if (is_out(t, id))
        return 0; /* the manager had heard of it */
    trial = trials_add(t->trials, id, NULL, t->x, space_dims(t->space)->n_dims);
    if (trial == NULL)
        return err_set(err, ERR_INPUT,
                       "parameter_id %" PRIu64 " is in use already", id);
    trial->foreign = true;
    if (id >= t->next_id)
        t->next_id = id + 1;
    return 0;
}

void
tuning_custom(struct tuning *t, const struct command *cmd)
{
    struct jval list = json_root(cmd->document);
    size_t n = jval_count(list), recovered = 0;
    struct err err;

    if (!tuning_has_space(t))
        return;
    for (size_t i = 0; i < n; i++) {
        if (recover_one(t, jval_at(list, i), &err) == 0) {
            recovered++;
            continue;
        }
        err_place(&err, "[%zu]", i);
        tuning_complain(t, err.text);
    }
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

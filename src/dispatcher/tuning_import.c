/* SPDX-License-Identifier: MIT */
#include "core/err.h"
#include "core/log.h"
#include "dispatcher/tuning_state.h"
#include "json.h"
#include "plugin/tuner.h"
#include "space/space.h"
#include "tunepipe/tuner.h"

#include <inttypes.h>

/* A metric as exports write it: a number, JSON text of one, or an object (or
 * text of one) with `default`. */
static bool
read_value(struct jval v, double *out)
{
    const char *text;
    size_t len;
    struct json *doc;
    struct jval inner;
    bool ok;

    if (jval_number(v, out))
        return true;
    if (jval_get(v, "default", &inner))
        return jval_number(inner, out);
    if (!jval_string(v, &text, &len))
        return false;
    doc = json_parse(text, len, JSON_NAN, NULL);
    if (doc == NULL)
        return false;
    inner = json_root(doc);
    ok = jval_number(inner, out) ||
         (jval_get(inner, "default", &inner) && jval_number(inner, out));
    json_free(doc);
    return ok;
}

static int
import_one(struct tuning *t, struct jval entry, struct err *err)
{
    struct tp_result result = {._struct_size = sizeof result,
                               .how = TP_RESULT_IMPORTED};
    struct jval parameters, value;

    if (!jval_get(entry, "parameter", &parameters))
        return err_set(err, ERR_INPUT, "no 'parameter'");
    if (!jval_get(entry, "value", &value) || !read_value(value, &result.value))
        return err_set(err, ERR_INPUT,
                       "value: expected a number, or an object with a numeric "
                       "'default'");
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
    t->told = true;
}

/* A record of a trial that an earlier run gave out and did not finish. */
static int
recover_one(struct tuning *t, struct jval record, struct err *err)
{
    struct jval v, parameters;
    struct trial *trial;
    uint64_t id;

    if (!jval_get(record, "parameter_id", &v) || !jval_uint(v, &id) ||
        id >= UINT64_C(1) << 53)
        return err_set(err, ERR_INPUT,
                       "parameter_id: expected an integer >= 0");
    if (!jval_get(record, "parameters", &parameters))
        return err_set(err, ERR_INPUT, "no 'parameters'");
    if (space_encode(t->space, parameters, t->x, err) != 0)
        return -1;
    trial = trials_add(t->trials, id, NULL, t->x, space_dims(t->space)->n_dims);
    if (trial == NULL)
        return err_set(err, ERR_INPUT,
                       "parameter_id %" PRIu64 " is in use already", id);
    trial->foreign = true;
    if (id >= t->next_id)
        t->next_id = id + 1;
    return 0;
}

/* An element may be the record itself, or JSON text of it. */
static int
recover_element(struct tuning *t, struct jval element, struct err *err)
{
    const char *text;
    size_t len;
    struct json *doc;
    int rc;

    if (!jval_string(element, &text, &len))
        return recover_one(t, element, err);
    doc = json_parse(text, len, JSON_NAN, err);
    if (doc == NULL)
        return -1;
    rc = recover_one(t, json_root(doc), err);
    json_free(doc);
    return rc;
}

void
tuning_custom(struct tuning *t, const struct command *cmd)
{
    struct jval root = json_root(cmd->document);
    bool list = jval_type(root) == JSON_ARRAY;
    size_t n = list ? jval_count(root) : 1, recovered = 0;
    struct err err;

    if (!tuning_has_space(t))
        return;
    for (size_t i = 0; i < n; i++) {
        if (recover_element(t, list ? jval_at(root, i) : root, &err) == 0) {
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

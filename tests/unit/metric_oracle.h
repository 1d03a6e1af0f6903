/* SPDX-License-Identifier: MIT */
/* metric_oracle.h - the payload of ME read with a tree, field by field: what
 * the decoder that reads without one is held against, by a test with payloads
 * of its making and by a fuzz target. */
#ifndef TESTS_METRIC_ORACLE_H
#define TESTS_METRIC_ORACLE_H

#include "command.h"
#include "core/buf.h"
#include "core/err.h"
#include "json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ORACLE_TEXT_MAX 2000 /* longest job or label */

/* The slow decoder.  1: decoded; 0: an error; -1: left undecided, because the
 * tree refuses what a decoder that skips does not look at. */
static inline int
oracle_value(struct jval value, struct metric *m)
{
    struct json *inner = NULL;
    const char *text;
    bool flag;
    size_t len;
    struct err err;

    m->has_value = false;
    if (jval_string(value, &text, &len)) {
        inner = json_parse(text, len, JSON_NAN, &err);
        if (inner == NULL)
            return strstr(err.text, "beyond") == NULL ? 1 : -1;
        value = json_root(inner);
    }
    if (jval_type(value) == JSON_OBJECT)
        m->has_value = jval_get(value, "default", &value);
    else
        m->has_value = true;
    if (m->has_value && jval_bool(value, &flag))
        m->value = flag;
    else if (m->has_value)
        m->has_value = jval_number(value, &m->value);
    json_free(inner);
    return 1;
}

static inline int
oracle_parameter(struct jval root, struct metric *m, char *label)
{
    const char *text;
    struct jval v;

    if (!jval_get(root, "parameter_id", &v) || jval_type(v) == JSON_NULL)
        return 1;
    if (jval_string(v, &text, NULL)) {
        m->parameter.kind = PARAMETER_LABEL;
        snprintf(label, ORACLE_TEXT_MAX, "%s", text);
        return 1;
    }
    m->parameter.kind = PARAMETER_NUMBER;
    return jval_uint(v, &m->parameter.number);
}

static inline int
oracle_number(struct jval root, const char *key, uint64_t *out, bool *given)
{
    struct jval v;

    *given = jval_get(root, key, &v) && jval_type(v) != JSON_NULL;
    return !*given || jval_uint(v, out);
}

static inline int
oracle_fields(struct jval root, struct metric *m, char *job, char *label)
{
    struct jval v;
    const char *text;
    size_t len;
    bool given;

    if (!jval_get(root, "type", &v) || !jval_string(v, &text, NULL))
        return 0;
    if (strcmp(text, "PERIODICAL") == 0)
        m->type = METRIC_PERIODICAL;
    else if (strcmp(text, "FINAL") == 0)
        m->type = METRIC_FINAL;
    else if (strcmp(text, "REQUEST_PARAMETER") == 0)
        m->type = METRIC_REQUEST;
    else
        return 0;
    if (!jval_get(root, "trial_job_id", &v) || !jval_string(v, &text, &len) ||
        len == 0 || strlen(text) != len)
        return 0;
    snprintf(job, ORACLE_TEXT_MAX, "%s", text);
    if (!oracle_parameter(root, m, label) ||
        !oracle_number(root, "attempt", &m->attempt, &given) ||
        !oracle_number(root, "sequence", &m->sequence, &given) ||
        (m->type == METRIC_PERIODICAL && !given))
        return 0;
    if (jval_get(root, "sync", &v) && jval_type(v) != JSON_NULL &&
        !jval_bool(v, &m->sync))
        return 0;
    return jval_get(root, "value", &v) ? oracle_value(v, m) : 1;
}

static inline int
oracle_decode(const struct buf *payload, struct metric *m, char *job,
              char *label)
{
    struct err err;
    struct json *doc = json_parse(payload->data, payload->len, JSON_NAN, &err);
    int result;

    *m = (struct metric){0};
    if (doc == NULL)
        return strstr(err.text, "beyond") == NULL &&
                       strstr(err.text, "u0000") == NULL
                   ? 0
                   : -1;
    result = jval_type(json_root(doc)) == JSON_OBJECT
                 ? oracle_fields(json_root(doc), m, job, label)
                 : 0;
    json_free(doc);
    return result;
}

static inline bool
oracle_same(const struct metric *a, const struct metric *b, const char *job,
            const char *label)
{
    return strcmp(a->job, job) == 0 && a->type == b->type &&
           a->parameter.kind == b->parameter.kind &&
           (a->parameter.kind != PARAMETER_LABEL ||
            strcmp(a->parameter.label, label) == 0) &&
           (a->parameter.kind != PARAMETER_NUMBER ||
            a->parameter.number == b->parameter.number) &&
           a->sequence == b->sequence && a->attempt == b->attempt &&
           a->sync == b->sync && a->has_value == b->has_value &&
           (!a->has_value || a->value == b->value ||
            (isnan(a->value) && isnan(b->value)));
}

#endif

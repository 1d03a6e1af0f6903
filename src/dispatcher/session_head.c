/* SPDX-License-Identifier: MIT */
/* The log's first record: a session's setup as JSON, and back. */
#include "dispatcher/session.h"

#include "core/buf.h"
#include "core/err.h"
#include "dispatcher/side.h"
#include "json.h"
#include "log/log.h"
#include "space/space.h"
#include "tunepipe/plugin.h"

#include <inttypes.h>
#include <string.h>

void
session_write_head(const struct session *s, const struct session_setup *setup,
                   struct buf *out)
{
    buf_printf(out,
               "{\"program\": \"tunepipe\", \"version\": \"%s\", "
               "\"abi\": %u, \"digits\": %d, \"max_payload\": %zu, "
               "\"seed\": %" PRIu64 ", ",
               TP_VERSION, TP_ABI, setup->digits, setup->max_payload,
               setup->seed);
    policy_write(&s->policy, out);
    buf_printf(out,
               ", \"space_limits\": {\"dims\": %d, \"choices\": %d, "
               "\"depth\": %d}, ",
               SPACE_DIMS_MAX, SPACE_CHOICES_MAX, SPACE_DEPTH_MAX);
    side_describe(s->sides[SENDER_DEFAULT], out);
    buf_add_text(out, ", ");
    side_describe(s->sides[SENDER_ASSESSOR], out);
    if (setup->program_folder != NULL && session_has_program(s)) {
        buf_add_text(out, ", \"program_folder\": ");
        json_write_string(out, setup->program_folder,
                          strlen(setup->program_folder));
    }
    buf_add_text(out, "}");
}

/* ---- reading the head ---- */

static int
need(struct jval head, const char *key, struct jval *out, struct err *err)
{
    if (jval_get(head, key, out))
        return 0;
    return err_set(err, ERR_LOG, "head record: no '%s'", key);
}

static int
read_word(struct jval head, const char *key,
          int (*set)(struct policy *, const char *, struct err *),
          struct policy *policy, struct err *err)
{
    struct jval v;
    const char *word;

    if (need(head, key, &v, err) != 0)
        return -1;
    if (!jval_string(v, &word, NULL))
        return err_set(err, ERR_LOG, "head record: %s: expected a text", key);
    if (set(policy, word, err) != 0)
        return err_place(err, "head record: %s", key);
    return 0;
}

static int
read_flag(struct jval head, const char *key, bool *out, struct err *err)
{
    struct jval v;

    if (need(head, key, &v, err) != 0)
        return -1;
    if (!jval_bool(v, out))
        return err_set(err, ERR_LOG, "head record: %s: expected true or false",
                       key);
    return 0;
}

static int
read_uint(struct jval head, const char *key, uint64_t *out, struct err *err)
{
    struct jval v;

    if (need(head, key, &v, err) != 0)
        return -1;
    if (!jval_uint(v, out))
        return err_set(err, ERR_LOG, "head record: %s: expected an integer",
                       key);
    return 0;
}

static int
read_plugin(struct jval head, const char *key, const char **name,
            struct jval *args, struct err *err)
{
    struct jval v, text;

    if (need(head, key, &v, err) != 0)
        return -1;
    *name = NULL;
    if (jval_type(v) == JSON_NULL)
        return 0;
    if (!jval_get(v, "name", &text) || !jval_string(text, name, NULL) ||
        need(v, "arguments", args, err) != 0)
        return err_set(err, ERR_LOG,
                       "head record: %s: expected name and arguments", key);
    return 0;
}

/* A log from before there were filters has none. */
static int
read_filters(struct jval head, struct session_setup *setup, struct err *err)
{
    struct jval list, text;

    setup->all_filters = true;
    setup->n_filters = 0;
    if (!jval_get(head, "filters", &list))
        return 0;
    if (jval_type(list) != JSON_ARRAY || jval_count(list) > SESSION_FILTERS_MAX)
        return err_set(err, ERR_LOG,
                       "head record: filters: expected a list of at most %d",
                       SESSION_FILTERS_MAX);
    for (size_t i = 0; i < jval_count(list); i++) {
        struct session_filter *f = &setup->filters[i];
        struct jval v = jval_at(list, i);

        f->logged = true;
        if (jval_type(v) != JSON_OBJECT || !jval_get(v, "name", &text) ||
            !jval_string(text, &f->name, NULL) ||
            !jval_get(v, "arguments", &f->args))
            return err_set(
                err, ERR_LOG,
                "head record: filters[%zu]: expected name and arguments", i);
    }
    setup->n_filters = jval_count(list);
    return 0;
}

int
session_read_head(struct jval head, struct session_setup *setup,
                  struct err *err)
{
    struct policy *p = &setup->policy;
    uint64_t digits, max_payload;
    struct jval folder, v;

    if (read_uint(head, "seed", &setup->seed, err) != 0 ||
        read_uint(head, "digits", &digits, err) != 0 ||
        read_uint(head, "max_payload", &max_payload, err) != 0 ||
        read_word(head, "early_stopped", policy_set_stopped, p, err) != 0 ||
        read_word(head, "on_error", policy_set_on_error, p, err) != 0 ||
        read_word(head, "ask_error", policy_set_ask_error, p, err) != 0 ||
        read_flag(head, "extensions", &p->extensions, err) != 0 ||
        read_flag(head, "maximize", &p->maximize, err) != 0 ||
        read_plugin(head, "tuner", &setup->tuner, &setup->tuner_args, err) !=
            0 ||
        read_plugin(head, "assessor", &setup->assessor, &setup->assessor_args,
                    err) != 0 ||
        read_filters(head, setup, err) != 0)
        return -1;
    if (setup->tuner == NULL)
        return err_set(err, ERR_LOG, "head record: tuner: expected one");
    if (jval_get(head, "program_folder", &folder))
        jval_string(folder, &setup->program_folder, NULL);
    p->directed = false; /* as in a log from before there was a direction */
    if (jval_get(head, "direction", &v) &&
        read_word(head, "direction", policy_set_direction, p, err) != 0)
        return -1;
    p->nni = jval_get(head, "nni", &v) && jval_bool(v, &p->nni) && p->nni;
    p->again = p->nni && jval_get(head, "again", &v) &&
               jval_bool(v, &p->again) && p->again;
    setup->maximize_given = true;
    setup->tuner_logged = setup->assessor_logged = true;
    setup->digits = (int)digits;
    setup->max_payload = (size_t)max_payload;
    return 0;
}

struct json *
session_load_head(struct log_reader *log, struct record *head,
                  struct session_setup *setup, struct err *err)
{
    struct json *doc;

    if (log_read_head(log, head, err) != 0)
        return NULL;
    doc = json_parse(head->payload, head->len, JSON_STRICT, err);
    if (doc != NULL && session_read_head(json_root(doc), setup, err) == 0)
        return doc;
    err_place(err, "%s", log_name(log));
    json_free(doc);
    return NULL;
}

int
session_check_versions(const struct session *s, struct jval head,
                       struct err *err)
{
    return side_check(s->sides[SENDER_DEFAULT], head, err) != 0
               ? -1
               : side_check(s->sides[SENDER_ASSESSOR], head, err);
}

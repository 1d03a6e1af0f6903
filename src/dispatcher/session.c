/* SPDX-License-Identifier: MIT */
#include "dispatcher/session.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/log.h"
#include "dispatcher/assessing.h"
#include "dispatcher/router.h"
#include "dispatcher/tuning.h"
#include "plugin/assessor.h"
#include "plugin/loader.h"
#include "plugin/paths.h"
#include "plugin/tuner.h"
#include "space/space.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The optimize_mode in a description, or NULL; kept by `doc`. */
static const char *
find_mode(const struct json *doc)
{
    struct jval arguments, mode;
    const char *text;

    if (doc != NULL && jval_get(json_root(doc), "arguments", &arguments) &&
        jval_get(arguments, "optimize_mode", &mode) &&
        jval_string(mode, &text, NULL))
        return text;
    return NULL;
}

/* NULL when there is no memory for it. */
static struct json *
describe(const struct session *s, bool tuner)
{
    struct buf text;
    struct json *doc;

    buf_init(&text, (size_t)16 << 20);
    if (tuner)
        tuner_describe(s->tuner, &text);
    else if (s->assessor != NULL)
        assessor_describe(s->assessor, &text);
    doc = json_parse(text.data, text.len, JSON_STRICT, NULL);
    buf_fini(&text);
    return doc;
}

/* What "best" means for a trial that was stopped: the optimize_mode of the
 * tuner's arguments, else of the assessor's, else maximize. */
static bool
find_maximize(const struct session *s, const struct log *log)
{
    struct json *tuner = describe(s, true), *assessor = describe(s, false);
    const char *mode = find_mode(tuner), *other = find_mode(assessor);
    bool maximize;

    if (mode != NULL && other != NULL && strcmp(mode, other) != 0)
        log_warning(log,
                    "optimize_mode: the tuner is to %s and the assessor to "
                    "%s, so it will stop the best trials",
                    mode, other);
    if (mode == NULL)
        mode = other;
    maximize = mode == NULL || strcmp(mode, "minimize") != 0;
    json_free(tuner);
    json_free(assessor);
    return maximize;
}

/* What a tuner wants around it, unless the user names it himself. */
static const struct {
    uint32_t flag;
    const char *name;
} default_filters[] = {{TP_TUNER_DEDUP, "dedup"}};

static bool
names_filter(const struct session_setup *setup, const char *name)
{
    char given[64];

    for (size_t i = 0; i < setup->n_filters; i++) {
        plugin_short_name(setup->filters[i].name, given, sizeof given);
        if (strcasecmp(given, name) == 0)
            return true;
    }
    return false;
}

/* From the inside out: the last one named is next to the default ones. */
static int
wrap_tuner(struct session *s, const struct session_setup *setup,
           const struct log *log, struct err *err)
{
    uint32_t flags = tuner_plugin(s->tuner)->tuner.flags;
    size_t n = sizeof default_filters / sizeof *default_filters;

    for (size_t i = 0; i < n && !setup->all_filters; i++)
        if (flags & default_filters[i].flag &&
            !names_filter(setup, default_filters[i].name) &&
            tuner_wrap(s->tuner, setup->paths, default_filters[i].name,
                       (struct jval){NULL}, log, err) != 0)
            return -1;
    for (size_t i = setup->n_filters; i-- > 0;)
        if (tuner_wrap(s->tuner, setup->paths, setup->filters[i].name,
                       setup->filters[i].args, log, err) != 0)
            return -1;
    return 0;
}

struct session *
session_new(const struct session_setup *setup, struct emitter emitter,
            const struct log *log, struct err *err)
{
    struct session *s = calloc(1, sizeof *s);

    if (s == NULL) {
        err_set(err, ERR_MEMORY, "session: out of memory");
        return NULL;
    }
    s->policy = setup->policy;
    s->tuner = tuner_new(setup->paths, setup->tuner, setup->tuner_args,
                         setup->seed, log, err);
    if (s->tuner == NULL || wrap_tuner(s, setup, log, err) != 0)
        goto fail;
    if (setup->assessor != NULL) {
        s->assessor = assessor_new(setup->paths, setup->assessor,
                                   setup->assessor_args, setup->seed, log, err);
        if (s->assessor == NULL)
            goto fail;
    }
    if (!setup->maximize_given)
        s->policy.maximize = find_maximize(s, log);
    s->router = router_new(log, err);
    s->tuning = tuning_new(s->tuner, &s->policy, emitter, log, err);
    s->assessing = assessing_new(s->assessor, &s->policy, emitter, log, err);
    if (s->router == NULL || s->tuning == NULL || s->assessing == NULL)
        goto fail;
    return s;
fail:
    session_free(s);
    return NULL;
}

void
session_free(struct session *s)
{
    if (s == NULL)
        return;
    tuning_free(s->tuning);
    assessing_free(s->assessing);
    router_free(s->router);
    tuner_free(s->tuner);
    assessor_free(s->assessor);
    free(s);
}

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
               "\"depth\": %d}, \"tuner\": ",
               SPACE_DIMS_MAX, SPACE_CHOICES_MAX, SPACE_DEPTH_MAX);
    tuner_describe(s->tuner, out);
    buf_add_text(out, ", \"filters\": ");
    tuner_describe_filters(s->tuner, out);
    buf_add_text(out, ", \"assessor\": ");
    if (s->assessor != NULL)
        assessor_describe(s->assessor, out);
    else
        buf_add_text(out, "null");
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
    setup->maximize_given = true;
    setup->digits = (int)digits;
    setup->max_payload = (size_t)max_payload;
    return 0;
}

/* `v` describes what was p when it was recorded. */
static int
check_version(struct jval v, const char *key, const struct plugin *p,
              struct err *err)
{
    struct jval version;
    uint64_t recorded;

    if (p == NULL || !jval_get(v, "version", &version) ||
        !jval_uint(version, &recorded) || recorded == p->version)
        return 0;
    return err_set(err, ERR_LOG,
                   "%s %s: recorded with version %" PRIu64
                   " of the algorithm, installed is version %" PRIu32
                   ": its answers may differ",
                   key, p->name, recorded, p->version);
}

int
session_check_versions(const struct session *s, struct jval head,
                       struct err *err)
{
    const struct plugin *assessor =
        s->assessor == NULL ? NULL : assessor_plugin(s->assessor);
    struct jval v;

    if (jval_get(head, "tuner", &v) &&
        check_version(v, "tuner", tuner_plugin(s->tuner), err) != 0)
        return -1;
    if (jval_get(head, "filters", &v))
        for (size_t i = 0; i < jval_count(v); i++)
            if (check_version(jval_at(v, i), "filter",
                              tuner_filter(s->tuner, i), err) != 0)
                return -1;
    return jval_get(head, "assessor", &v)
               ? check_version(v, "assessor", assessor, err)
               : 0;
}

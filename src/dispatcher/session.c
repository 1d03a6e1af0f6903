/* SPDX-License-Identifier: MIT */
#include "dispatcher/session.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/log.h"
#include "core/pack.h"
#include "dispatcher/assessing.h"
#include "dispatcher/proxy.h"
#include "dispatcher/proxy_setup.h"
#include "dispatcher/router.h"
#include "dispatcher/side.h"
#include "dispatcher/tuning.h"
#include "frame.h"
#include "json.h"
#include "log/log.h"
#include "objectives/objectives.h"
#include "plugin/assessor.h"
#include "plugin/given_arg.h"
#include "plugin/loader.h"
#include "plugin/paths.h"
#include "plugin/tuner.h"
#include "space/space.h"
#include "tunepipe/plugin.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* an argument: NNI's name of the direction */
#define OPTIMIZE_MODE "optimize_mode"

/* Whether higher results are better: by the optimize_mode in the tuner's
 * arguments, else in the assessor's, else yes. */
static bool
find_maximize(const struct session *s, const struct log *log)
{
    const char *mode = side_argument(s->sides[SENDER_DEFAULT], OPTIMIZE_MODE);
    const char *other = side_argument(s->sides[SENDER_ASSESSOR], OPTIMIZE_MODE);

    if (mode != NULL && other != NULL && strcmp(mode, other) != 0)
        log_warning(log,
                    OPTIMIZE_MODE ": the tuner is to %s and the assessor to "
                                  "%s, so it will stop the best trials",
                    mode, other);
    if (mode == NULL)
        mode = other;
    return mode == NULL || strcmp(mode, "minimize") != 0;
}

/* Filters that a tuner's flag asks for, unless the user names them himself. */
static const struct {
    uint32_t flag;
    const char *name;
} default_filters[] = {{TP_TUNER_DEDUP, "dedup"}};

/* The index of the first filter of that name; n_filters: there is none. */
static size_t
find_filter(const struct session_setup *setup, const char *name)
{
    char given[64];
    size_t i = 0;

    for (; i < setup->n_filters; i++) {
        plugin_short_name(setup->filters[i].name, given, sizeof given);
        if (strcasecmp(given, name) == 0)
            break;
    }
    return i;
}

/* The name or file under which a plugin is loaded, to be freed; one that a log
 * names is never a file. */
static char *
plugin_to_load(const struct plugin_paths *paths, const char *name, bool logged,
               struct err *err)
{
    char *own = NULL;

    if (logged)
        return plugin_paths_find_logged(paths, name, err);
    own = strdup(name);
    if (own == NULL)
        err_set(err, ERR_MEMORY, "session: out of memory");
    return own;
}

static int
wrap_defaults(struct session *s, const struct session_setup *setup,
              const struct log *log, struct err *err)
{
    uint32_t flags = tuner_plugin(s->tuner)->tuner.flags;
    size_t n = sizeof default_filters / sizeof *default_filters;

    for (size_t i = 0; i < n && !setup->all_filters; i++)
        if (flags & default_filters[i].flag &&
            find_filter(setup, default_filters[i].name) == setup->n_filters &&
            tuner_wrap(s->tuner, setup->paths, default_filters[i].name,
                       (struct jval){NULL}, log, err) != 0)
            return -1;
    return 0;
}

/* Puts the place before an error with what stands in that line; returns -1. */
static int
fail_at(const struct session_setup *setup, unsigned line, struct err *err)
{
    if (setup->file != NULL && line > 0)
        err_place(err, "%s:%u", setup->file, line);
    return -1;
}

static int
wrap_with_filter(struct session *s, const struct session_setup *setup,
                 const struct session_filter *f, const struct log *log,
                 struct err *err)
{
    char *name = plugin_to_load(setup->paths, f->name, f->logged, err);
    int rc = name == NULL
                 ? -1
                 : tuner_wrap(s->tuner, setup->paths, name, f->args, log, err);

    free(name);
    return rc == 0 ? 0 : fail_at(setup, f->line, err);
}

/* Puts the filters around the tuner, from the inside out.  The default ones lie
 * next to the tuner, or around `constraints`: that moves points, and a filter
 * that has to know the points given out must see where to. */
static int
wrap_tuner(struct session *s, const struct session_setup *setup,
           const struct log *log, struct err *err)
{
    size_t around = find_filter(setup, "constraints");

    for (size_t i = setup->n_filters;; i--) {
        if (i == around && wrap_defaults(s, setup, log, err) != 0)
            return -1;
        if (i == 0)
            return 0;
        if (wrap_with_filter(s, setup, &setup->filters[i - 1], log, err) != 0)
            return -1;
    }
}

static struct tuner *
open_tuner(const struct session_setup *setup, const struct log *log,
           struct err *err)
{
    char *name =
        plugin_to_load(setup->paths, setup->tuner, setup->tuner_logged, err);
    struct json *made = NULL;
    struct tuner *tuner = NULL;

    if (name != NULL &&
        given_arg_complete(setup->paths, PLUGIN_TUNER, name, setup->tuner_args,
                           "all_checkpoint_dir", setup->checkpoint_folder,
                           &made, err) == 0)
        tuner = tuner_new(setup->paths, name,
                          made != NULL ? json_root(made) : setup->tuner_args,
                          setup->seed, log, err);
    json_free(made);
    free(name);
    return tuner;
}

static int
load_tuner(struct session *s, const struct session_setup *setup,
           const struct log *log, struct err *err)
{
    if (!proxy_is_named(setup->tuner)) {
        s->tuner = open_tuner(setup, log, err);
        if (s->tuner == NULL ||
            (s->policy.objectives != NULL &&
             tuner_objectives(s->tuner, s->policy.objectives, log, err) != 0))
            return fail_at(setup, setup->tuner_line, err);
        return wrap_tuner(s, setup, log, err);
    }
    if (setup->n_filters > 0)
        return err_set(err, ERR_CONFIG,
                       "filter %s: tuner exec takes none: a filter lies "
                       "around a plugin",
                       setup->filters[0].name);
    if (setup->policy.ask_error == ASK_PRIOR)
        return err_set(err, ERR_CONFIG,
                       "ask-error prior: expected refuse for tuner exec, "
                       "which draws no samples");
    s->setups[SENDER_DEFAULT] =
        proxy_setup_read("tuner", setup->tuner_args, setup->seed, err);
    return s->setups[SENDER_DEFAULT] == NULL
               ? fail_at(setup, setup->tuner_line, err)
               : 0;
}

static bool
is_advised(const struct session *s)
{
    return s->tuner != NULL && tuner_advises(s->tuner);
}

/* Refuses an assessor beside an advisor; under policy nni it is left out with a
 * warning, as NNI does. */
static int
refuse_assessor(const struct session *s, const struct session_setup *setup,
                const struct log *log, struct err *err)
{
    const char *tuner = tuner_plugin(s->tuner)->name;

    if (!setup->policy.nni)
        return err_set(err, ERR_CONFIG,
                       "assessor %s: expected none: tuner %s decides itself "
                       "how long trials run",
                       setup->assessor, tuner);
    log_warning(log,
                "assessor %s is left out: tuner %s decides itself how long "
                "trials run",
                setup->assessor, tuner);
    return 0;
}

static struct assessor *
open_assessor(const struct session_setup *setup, const struct log *log,
              struct err *err)
{
    char *name = plugin_to_load(setup->paths, setup->assessor,
                                setup->assessor_logged, err);
    struct assessor *assessor =
        name == NULL ? NULL
                     : assessor_new(setup->paths, name, setup->assessor_args,
                                    setup->seed, log, err);

    free(name);
    return assessor;
}

/* Says in a line that an assessor judges what is made of several values. */
static void
say_scalarized(const struct session *s, const struct log *log)
{
    const struct policy *p = &s->policy;

    if (policy_scalarizes(p) && p->objectives->n > 1 &&
        p->assessor_objective == NULL)
        log_info(log,
                 "assessor %s judges one value: several are scalarized by %s "
                 "(--assessor-objective names one)",
                 assessor_plugin(s->assessor)->name,
                 scalarize_name(p->objectives->how));
}

static int
load_assessor(struct session *s, const struct session_setup *setup,
              const struct log *log, struct err *err)
{
    if (setup->assessor == NULL)
        return 0;
    if (is_advised(s))
        return refuse_assessor(s, setup, log, err) == 0
                   ? 0
                   : fail_at(setup, setup->assessor_line, err);
    if (!proxy_is_named(setup->assessor)) {
        s->assessor = open_assessor(setup, log, err);
        if (s->assessor == NULL)
            return fail_at(setup, setup->assessor_line, err);
        say_scalarized(s, log);
        return 0;
    }
    s->setups[SENDER_ASSESSOR] =
        proxy_setup_read("assessor", setup->assessor_args, setup->seed, err);
    return s->setups[SENDER_ASSESSOR] == NULL
               ? fail_at(setup, setup->assessor_line, err)
               : 0;
}

/* The longest payload that fits into the manager's frames. */
static size_t
longest_payload(const struct session_setup *setup)
{
    const size_t old = 999999; /* the most that six digits can say */

    return setup->digits == FRAME_DIGITS_OLD && setup->max_payload > old
               ? old
               : setup->max_payload;
}

static void
emit_for_side(void *ctx, const struct emission *e)
{
    const struct session *s = ctx;

    s->emitter.emit(s->emitter.ctx, e);
}

void
session_redirect(struct session *s, struct emitter emitter)
{
    s->emitter = emitter;
}

static struct side *
limit_payload(struct proxy *proxy, size_t longest)
{
    if (proxy == NULL)
        return NULL;
    proxy_limit(proxy, longest);
    return &proxy->side;
}

/* Makes the two sides, each of which answers one queue's commands. */
static int
make_sides(struct session *s, size_t longest, const struct log *log,
           struct err *err)
{
    struct emitter emitter = {emit_for_side, s};
    const struct proxy_setup *tuner = s->setups[SENDER_DEFAULT];
    const struct proxy_setup *assessor = s->setups[SENDER_ASSESSOR];

    s->sides[SENDER_DEFAULT] =
        tuner != NULL ? limit_payload(proxy_tuner_new(tuner, &s->policy,
                                                      emitter, log, err),
                                      longest)
                      : tuning_new(s->tuner, &s->policy, emitter, log, err);
    if (s->sides[SENDER_DEFAULT] == NULL)
        return -1;
    s->sides[SENDER_ASSESSOR] =
        assessor != NULL
            ? limit_payload(
                  proxy_assessor_new(assessor, &s->policy, emitter, log, err),
                  longest)
            : assessing_new(s->assessor, &s->policy, emitter, log, err);
    return s->sides[SENDER_ASSESSOR] == NULL ? -1 : 0;
}

/* ---- the direction ---- */

int
session_direct(const struct plugin_paths *paths, enum plugin_kind kind,
               const char *name, bool logged, const char *direction,
               struct jval *args, struct json **made, struct err *err)
{
    struct jval mode;
    const char *said;
    char *file;
    int rc = -1;

    *made = NULL;
    if (name == NULL || direction == NULL)
        return 0;
    if (jval_get(*args, OPTIMIZE_MODE, &mode) &&
        jval_string(mode, &said, NULL)) {
        if (policy_direction_of(said) == NULL ||
            strcmp(policy_direction_of(said), direction) == 0)
            return 0; /* the plugin itself refuses a wrong word */
        return err_set(err, ERR_CONFIG,
                       "%s %s: " OPTIMIZE_MODE ": is %s, and the experiment's "
                       "direction is %s: expected one of them, or the same in "
                       "both",
                       plugin_kind_name(kind), name, said, direction);
    }
    if (proxy_is_named(name) && kind != PLUGIN_FILTER) {
        rc = given_arg_put(*args, OPTIMIZE_MODE, direction, made, err);
    } else if ((file = plugin_to_load(paths, name, logged, err)) != NULL) {
        rc = given_arg_complete(paths, kind, file, *args, OPTIMIZE_MODE,
                                direction, made, err);
        free(file);
    }
    if (*made != NULL)
        *args = json_root(*made);
    return rc;
}

/* Whether arguments name the direction of the one objective there is, which is
 * not that of what is made of it and its limits. */
static bool
names_objectives(const struct policy *p, const char *name, struct jval args,
                 const char *direction)
{
    const struct objectives *o = p->objectives;
    const char *said, *own;
    struct jval mode;

    if (!policy_scalarizes(p) || o->n > 1 || name == NULL ||
        direction != policy_direction(p) || proxy_is_named(name) ||
        !jval_get(args, OPTIMIZE_MODE, &mode) ||
        !jval_string(mode, &said, NULL))
        return false;
    own = policy_direction_of(said);
    return own != NULL && o->items[0].maximize && strcmp(own, "maximize") == 0;
}

/* Refuses arguments that name the other direction for what is made of several
 * values. */
static int
check_mode(const struct policy *p, enum plugin_kind kind, const char *name,
           struct jval args, const char *direction, struct err *err)
{
    const char *said, *other;
    struct jval mode;

    if (!policy_scalarizes(p) || direction != policy_direction(p) ||
        name == NULL || proxy_is_named(name) ||
        !jval_get(args, OPTIMIZE_MODE, &mode) ||
        !jval_string(mode, &said, NULL))
        return 0;
    other = policy_direction_of(said);
    if (other == NULL || strcmp(other, direction) == 0 ||
        names_objectives(p, name, args, direction))
        return 0;
    return err_set(err, ERR_CONFIG,
                   "%s %s: " OPTIMIZE_MODE ": is %s, expected none: each "
                   "objective has its own, and of what is made of several "
                   "less is better",
                   plugin_kind_name(kind), name, said);
}

/* A program is told what comes of objectives by itself, in another way. */
static const char *
direction_for(const struct policy *p, const char *name, const char *direction)
{
    return name != NULL && proxy_is_named(name) && policy_scalarizes(p)
               ? NULL
               : direction;
}

/* As session_direct(); what is said of the one objective is not told. */
static int
direct(const struct session_setup *setup, enum plugin_kind kind,
       const char *name, bool logged, const char *direction, struct jval *args,
       struct json **made, struct err *err)
{
    const struct policy *p = &setup->policy;

    if (!names_objectives(p, name, *args, direction))
        return session_direct(setup->paths, kind, name, logged,
                              direction_for(p, name, direction), args, made,
                              err);
    if (given_arg_set(*args, OPTIMIZE_MODE, direction, made, err) != 0)
        return -1;
    *args = json_root(*made);
    return 0;
}

/* Tells the direction to all plugins in *setup; `made` has room for the
 * arguments that they then borrow. */
static int
direct_all(struct session_setup *setup, struct json **made, struct err *err)
{
    const struct policy *p = &setup->policy;
    const char *direction = policy_direction(p);
    int rc;

    if (check_mode(p, PLUGIN_TUNER, setup->tuner, setup->tuner_args, direction,
                   err) != 0 ||
        check_mode(p, PLUGIN_ASSESSOR, setup->assessor, setup->assessor_args,
                   policy_assessor_direction(p), err) != 0)
        return -1;
    rc = direct(setup, PLUGIN_TUNER, setup->tuner, setup->tuner_logged,
                direction, &setup->tuner_args, made++, err);
    if (rc == 0)
        rc = direct(setup, PLUGIN_ASSESSOR, setup->assessor,
                    setup->assessor_logged, policy_assessor_direction(p),
                    &setup->assessor_args, made++, err);
    for (size_t i = 0; rc == 0 && i < setup->n_filters; i++)
        rc = session_direct(setup->paths, PLUGIN_FILTER, setup->filters[i].name,
                            setup->filters[i].logged, direction,
                            &setup->filters[i].args, made++, err);
    return rc;
}

/* ---- all of it ---- */

static struct session *
make_session(const struct session_setup *setup, struct emitter emitter,
             const struct log *log, struct err *err)
{
    struct session *s = calloc(1, sizeof *s);

    if (s == NULL) {
        err_set(err, ERR_MEMORY, "session: out of memory");
        return NULL;
    }
    s->emitter = emitter;
    s->policy = setup->policy;
    if (setup->program_folder != NULL &&
        (s->program_folder = strdup(setup->program_folder)) == NULL) {
        err_set(err, ERR_MEMORY, "session: out of memory");
        goto fail;
    }
    if (load_tuner(s, setup, log, err) != 0 ||
        load_assessor(s, setup, log, err) != 0)
        goto fail;
    s->router = router_new(log, err);
    if (s->router == NULL ||
        make_sides(s, longest_payload(setup), log, err) != 0)
        goto fail;
    if (!setup->maximize_given && !s->policy.directed)
        s->policy.maximize = find_maximize(s, log);
    if (s->policy.extensions)
        router_remember(s->router);
    if (s->policy.nni)
        router_serve_nni(s->router, s->policy.reissue);
    if (s->policy.objectives != NULL)
        router_judge(s->router, s->policy.objectives);
    if (is_advised(s))
        router_serve_advisor(s->router);
    else if (setup->assessor == NULL)
        router_keep_ends(s->router);
    return s;
fail:
    session_free(s);
    return NULL;
}

/* Reads the objectives, which are then the policy's and *out.  -1: *out is
 * NULL, or still to be freed. */
static int
take_objectives(struct session_setup *setup, struct objectives **out,
                struct err *err)
{
    *out = NULL;
    if (jval_type(setup->objectives) == JSON_NULL)
        return 0;
    *out = objectives_from(setup->objectives, err);
    if (*out == NULL)
        return err_place(err, "objectives");
    return policy_set_objectives(&setup->policy, *out,
                                 setup->assessor_objective, err) == 0
               ? 0
               : err_place(err, "assessor-objective");
}

struct session *
session_new(const struct session_setup *setup, struct emitter emitter,
            const struct log *log, struct err *err)
{
    struct json *made[2 + SESSION_FILTERS_MAX] = {NULL};
    struct session_setup directed = *setup;
    struct objectives *objectives;
    struct session *s = NULL;

    if (take_objectives(&directed, &objectives, err) == 0 &&
        direct_all(&directed, made, err) == 0)
        s = make_session(&directed, emitter, log, err);
    if (s == NULL) {
        objectives_free(objectives);
    } else if (objectives != NULL) {
        s->objectives = objectives;
        s->objectives_text = objectives_text(objectives);
        if (s->objectives_text == NULL) {
            err_set(err, ERR_MEMORY, "session: out of memory");
            session_free(s);
            s = NULL;
        }
    }
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        json_free(made[i]);
    return s;
}

void
session_listen(struct session *s, const struct explainer *explainer)
{
    for (int i = 0; i < 2; i++)
        side_listen(s->sides[i], explainer);
}

void
session_free(struct session *s)
{
    if (s == NULL)
        return;
    for (int i = 0; i < 2; i++) {
        side_free(s->sides[i]);
        proxy_setup_free(s->setups[i]);
    }
    router_free(s->router);
    tuner_free(s->tuner);
    assessor_free(s->assessor);
    objectives_free(s->objectives);
    free(s->objectives_text);
    free(s->program_folder);
    free(s);
}

void
session_undo_end(struct session *s)
{
    for (int i = 0; i < 2; i++)
        side_reopen(s->sides[i]);
}

/* ---- snapshots ---- */

static int
save_router(const struct session *s, struct buf *out, struct err *err)
{
    size_t len = out->len;

    router_save(s->router, out);
    if (buf_check(out, "what a snapshot holds", err) == 0)
        return 1;
    out->len = len;
    return -1;
}

int
session_save(const struct session *s, enum sender side, struct buf *out,
             struct err *err)
{
    return side == SENDER_ROUTER ? save_router(s, out, err)
                                 : side_save(s->sides[side], out, err);
}

static int
load_side(struct session *s, enum sender side, struct unpack *in,
          struct err *err)
{
    if (side != SENDER_ROUTER)
        return side_load(s->sides[side], in, err);
    return router_load(s->router, in) == 0
               ? 0
               : err_set(err, ERR_LOG, "damaged, or out of memory");
}

int
session_load(struct session *s, enum sender side, struct unpack *in,
             struct err *err)
{
    static const char *const names[] = {[SENDER_DEFAULT] = "the tuner's part",
                                        [SENDER_ASSESSOR] =
                                            "the assessor's part",
                                        [SENDER_ROUTER] = "the router's part"};

    if (load_side(s, side, in, err) == 0) {
        if (unpack_done(in))
            return 0;
        err_set(err, ERR_LOG, "%zu bytes too many", (size_t)(in->end - in->at));
    }
    return err_place(err, "snapshot: %s", names[side]);
}

/* ---- the log's first record: the setup as JSON, and back ---- */

/* Whether one of the sides is a program. */
static bool
has_program(const struct session *s)
{
    return side_proxy(s->sides[SENDER_DEFAULT]) != NULL ||
           side_proxy(s->sides[SENDER_ASSESSOR]) != NULL;
}

void
session_write_head(const struct session *s, const struct session_setup *setup,
                   struct buf *out)
{
    struct json_writer w = json_begin_object(out);

    json_add_text(&w, "program", "tunepipe");
    json_add_text(&w, "version", TP_VERSION);
    json_add_unsigned(&w, "abi", TP_ABI);
    json_add_integer(&w, "digits", setup->digits);
    json_add_unsigned(&w, "max_payload", setup->max_payload);
    json_add_unsigned(&w, "seed", setup->seed);
    policy_write(&s->policy, &w);
    json_open_object(&w, "space_limits");
    json_add_unsigned(&w, "dims", SPACE_DIMS_MAX);
    json_add_unsigned(&w, "choices", SPACE_CHOICES_MAX);
    json_add_unsigned(&w, "depth", SPACE_DEPTH_MAX);
    json_close(&w);
    side_describe(s->sides[SENDER_DEFAULT], &w);
    side_describe(s->sides[SENDER_ASSESSOR], &w);
    if (setup->program_folder != NULL && has_program(s))
        json_add_text(&w, "program_folder", setup->program_folder);
    json_close(&w);
}

static int
need_member(struct jval head, const char *key, struct jval *out,
            struct err *err)
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

    if (need_member(head, key, &v, err) != 0)
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

    if (need_member(head, key, &v, err) != 0)
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

    if (need_member(head, key, &v, err) != 0)
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

    if (need_member(head, key, &v, err) != 0)
        return -1;
    *name = NULL;
    if (jval_type(v) == JSON_NULL)
        return 0;
    if (!jval_get(v, "name", &text) || !jval_string(text, name, NULL) ||
        need_member(v, "arguments", args, err) != 0)
        return err_set(err, ERR_LOG,
                       "head record: %s: expected name and arguments", key);
    return 0;
}

/* Reads the filters; a log from before there were any has none. */
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

/* Reads what results are judged by; a log from before that has one number. */
static int
read_objectives(struct jval head, struct session_setup *setup, struct err *err)
{
    struct jval v;

    setup->objectives = (struct jval){NULL};
    setup->assessor_objective = NULL;
    setup->policy.objectives = NULL;
    setup->policy.assessor_objective = NULL;
    if (!jval_get(head, "objectives", &setup->objectives))
        return 0;
    if (jval_get(head, "assessor_objective", &v) &&
        !jval_string(v, &setup->assessor_objective, NULL))
        return err_set(err, ERR_LOG,
                       "head record: assessor_objective: expected a text");
    return 0;
}

/* A flag that logs lack which are older than it. */
static bool
has_flag(struct jval head, const char *key)
{
    struct jval v;
    bool on;

    return jval_get(head, key, &v) && jval_bool(v, &on) && on;
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
        read_filters(head, setup, err) != 0 ||
        read_objectives(head, setup, err) != 0)
        return -1;
    if (setup->tuner == NULL)
        return err_set(err, ERR_LOG, "head record: tuner: expected one");
    if (jval_get(head, "program_folder", &folder))
        jval_string(folder, &setup->program_folder, NULL);
    p->directed = false; /* older logs do not know a direction */
    if (jval_get(head, "direction", &v) &&
        read_word(head, "direction", policy_set_direction, p, err) != 0)
        return -1;
    p->nni = has_flag(head, "nni");
    p->reissue = p->nni && has_flag(head, "again");
    p->reclaim = has_flag(head, "reclaim");
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

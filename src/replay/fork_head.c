/* SPDX-License-Identifier: MIT */
#include "replay/fork_state.h"

#include "core/err.h"
#include "dispatcher/proxy_setup.h"
#include "dispatcher/session.h"
#include "replay/replay.h"

#include <string.h>

/* ---- the head ---- */

static int
change_policy(struct policy *p, const struct fork_changes *c, struct err *err)
{
    if (c->early_stopped != NULL &&
        policy_set_stopped(p, c->early_stopped, err) != 0)
        return err_place(err, "--early-stopped");
    if (c->on_error != NULL && policy_set_on_error(p, c->on_error, err) != 0)
        return err_place(err, "--on-error");
    if (c->ask_error != NULL && policy_set_ask_error(p, c->ask_error, err) != 0)
        return err_place(err, "--ask-error");
    return 0;
}

/* Arguments alone change those of the plugin that is there. */
static int
change_plugins(struct session_setup *s, const struct fork_changes *c,
               struct err *err)
{
    if (c->tuner != NULL) {
        s->tuner = c->tuner;
        s->tuner_logged = false;
    }
    if (c->tuner != NULL || c->tuner_args.node != NULL)
        s->tuner_args = c->tuner_args;
    if (c->assessor != NULL) {
        s->assessor = c->assessor;
        s->assessor_logged = false;
    }
    if (c->no_assessor)
        s->assessor = NULL;
    if (s->assessor == NULL && c->assessor_args.node != NULL)
        return err_set(err, ERR_USAGE,
                       "--assessor-args: expected --assessor, too: the "
                       "experiment has none");
    if (c->assessor != NULL || c->assessor_args.node != NULL)
        s->assessor_args = c->assessor_args;
    if ((c->assessor != NULL || c->assessor_args.node != NULL) &&
        proxy_is_named(s->assessor))
        return err_set(err, ERR_USAGE,
                       "--assessor %s: expected a plugin: what a program would "
                       "have said before is not known",
                       s->assessor);
    if (c->has_seed)
        s->seed = c->seed;
    return 0;
}

/* Whoever comes new is told which way the experiment goes, which one from
 * before there was a direction says by `maximize` alone. */
static int
direct_changed(struct session_setup *s, const struct fork_changes *c,
               struct json *made[2], struct err *err)
{
    const char *direction = s->policy.maximize ? "maximize" : "minimize";
    int rc = 0;

    if (c->tuner != NULL || c->tuner_args.node != NULL)
        rc = session_direct(s->paths, PLUGIN_TUNER, s->tuner, s->tuner_logged,
                            direction, &s->tuner_args, &made[0], err);
    if (rc == 0 && (c->assessor != NULL || c->assessor_args.node != NULL))
        rc = session_direct(s->paths, PLUGIN_ASSESSOR, s->assessor,
                            s->assessor_logged, direction, &s->assessor_args,
                            &made[1], err);
    return rc;
}

static void
collect_nothing(void *ctx, const struct emission *e)
{
    (void)ctx;
    (void)e;
}

static int
write_changed(struct fork *f, struct json *old, struct err *err)
{
    struct session_setup setup = {.paths = f->setup->paths};
    const struct fork_changes *c = f->setup->changes;
    struct emitter emitter = {collect_nothing, NULL};
    struct json *made[2] = {NULL, NULL};
    struct session *session = NULL;
    int rc = -1;

    if (session_read_head(json_root(old), &setup, err) != 0)
        return err_place(err, "%s", f->setup->path);
    if (change_policy(&setup.policy, c, err) == 0 &&
        change_plugins(&setup, c, err) == 0 &&
        direct_changed(&setup, c, made, err) == 0)
        session = session_new(&setup, emitter, f->setup->log, err);
    if (session != NULL) {
        session_write_head(session, &setup, &f->head);
        f->report->seed = setup.seed;
        rc = buf_check(&f->head, "the head record", err);
    }
    session_free(session);
    json_free(made[0]);
    json_free(made[1]);
    return rc;
}

int
fork_head(struct fork *f, const struct record *old, struct err *err)
{
    const struct fork_changes *c = f->setup->changes;
    struct json *doc;
    struct jval v;
    int rc = 0;

    f->judged_anew =
        c->no_assessor || c->assessor != NULL || c->assessor_args.node != NULL;
    f->changed = f->judged_anew || c->tuner != NULL ||
                 c->tuner_args.node != NULL || c->has_seed ||
                 c->early_stopped != NULL || c->on_error != NULL ||
                 c->ask_error != NULL;
    doc = json_parse(old->payload, old->len, JSON_STRICT, err);
    if (doc == NULL)
        return err_place(err, "%s: head record", f->setup->path);
    if (jval_get(json_root(doc), "seed", &v))
        (void)jval_uint(v, &f->report->seed);
    if (f->changed)
        rc = write_changed(f, doc, err);
    else
        buf_add(&f->head, old->payload, old->len);
    json_free(doc);
    return rc;
}

/* ---- another assessor ---- */

struct said {
    struct fork *f;
    struct buf records; /* encoded, of the cause in hand */
    uint64_t cause;
    bool open; /* that cause's answers are still to be sent */
    int rc;
    struct err err;
};

/* A cause's answers are on record together, or follow together. */
static void
close_cause(struct said *s)
{
    if (!s->open && s->records.len > 0 && s->rc == 0) {
        buf_add(&s->f->out, s->records.data, s->records.len);
        if (s->f->out.len >= FORK_CHUNK)
            s->rc = fork_flush(s->f, &s->err);
    }
    buf_clear(&s->records);
    s->open = false;
}

static void
take_said(void *ctx, const struct emission *e)
{
    struct said *s = ctx;
    const char *code = command_info(e->code)->code;

    if (e->sender != SENDER_ASSESSOR)
        return;
    if (e->cause != s->cause)
        close_cause(s);
    s->cause = e->cause;
    if (e->code == CMD_KILL_TRIAL)
        s->open = s->open ||
                  map_get(&s->f->report->ended, e->job, strlen(e->job)) == NULL;
    else
        s->open = s->open || map_get(&s->f->acknowledged, &e->cause,
                                     sizeof e->cause) == NULL;
    record_encode2(&s->records, RECORD_ASSESSOR, e->cause, s->f->time_us, code,
                   2, e->payload, e->len);
    s->f->report->answers += !s->open;
}

int
fork_judged(struct fork *f, struct err *err)
{
    struct said said = {.f = f};
    struct replay_setup setup = {.path = f->path,
                                 .paths = f->setup->paths,
                                 .log = f->setup->log,
                                 .derived = take_said,
                                 .ctx = &said};
    struct replay_report report;
    int rc;

    if (fork_flush(f, err) != 0)
        return -1;
    buf_init(&said.records, SIZE_MAX / 2);
    rc = replay_run(&setup, &report, err);
    close_cause(&said);
    if (rc == 0 && said.rc != 0) {
        *err = said.err;
        rc = -1;
    } else if (rc != 0 && err->code == ERR_INPUT) {
        struct err was = *err;

        err_set(err, ERR_USAGE,
                "with these changes the answers up to there would have been "
                "others, expected changes that matter behind them only: %s",
                was.text);
    }
    buf_fini(&said.records);
    return rc;
}

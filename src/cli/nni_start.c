/* SPDX-License-Identifier: MIT */
#include "cli/nni_start.h"

#include "cli/nni_crashes.h"
#include "cli/nni_registered.h"
#include "cli/verb.h"
#include "core/err.h"
#include "dispatcher/dispatcher.h"
#include "dispatcher/session.h"
#include "frame.h"
#include "json.h"
#include "log/log.h"
#include "nni/names.h"
#include "nni/pyclass.h"
#include "plugin/paths.h"
#include "plugin/tuner.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#define SEED_BITS 31 /* as NNI draws it */

static const char *
get_variable(const char *name)
{
    return getenv(name);
}

void
nni_start_begin(struct nni_start *n, const char *exp_params)
{
    struct err err;

    *n = (struct nni_start){.text = exp_params, .wanted = {.fd = -1}};
    nni_environment_read(&n->environment, get_variable);
    n->log = (struct log){.fd = 2,
                          .most = n->environment.level,
                          .name = "tunepipe",
                          .lost = &n->lost};
    if (journal_open(&n->journal, n->environment.log_folder,
                     n->environment.level, &err) != 0)
        log_warning(&n->log, "no " JOURNAL_NAME " is written: %s", err.text);
    else
        n->log.also = &n->journal.sink;
}

void
nni_start_end(struct nni_start *n)
{
    resumption_fini(&n->resumption);
    plugin_paths_free(n->paths);
    json_free(n->args[0]);
    json_free(n->args[1]);
    exp_params_fini(&n->params);
    journal_close(&n->journal);
}

/* ---- tuner and assessor ---- */

/* NNI before 1.9 has built-in names under className, too. */
static const char *
name_of(const struct nni_algorithm *a, enum plugin_kind kind)
{
    if (a->name == NULL && a->class_file == NULL && a->code_directory == NULL &&
        names_known(kind, a->class_name))
        return a->class_name;
    return a->name;
}

static struct json *
arguments_of_class(enum plugin_kind kind, const struct nni_algorithm *a,
                   const char *class_name, struct err *err)
{
    const struct pyclass c = {
        .kind = plugin_kind_name(kind),
        .class_name = class_name,
        .code_directory = a->code_directory,
        .class_file = a->class_file,
        .args = a->args,
    };

    return pyclass_arguments(&c, err);
}

static int
choose(struct nni_start *n, enum plugin_kind kind,
       const struct nni_algorithm *a, struct json **made, const char **name,
       struct jval *args, struct err *err)
{
    const char *builtin = name_of(a, kind);
    char *registered =
        builtin == NULL || names_known(kind, builtin)
            ? NULL
            : nni_registered_class(plugin_kind_name(kind), builtin, &n->log);

    if (builtin == NULL || registered != NULL) {
        *name = "exec";
        *made = arguments_of_class(
            kind, a, registered != NULL ? registered : a->class_name, err);
        free(registered);
        if (*made == NULL)
            return -1;
    } else if (names_resolve(n->paths, kind, builtin, name, err) != 0 ||
               names_translate(*name, a->args, made, err) != 0) {
        return -1;
    }
    *args = *made != NULL ? json_root(*made) : a->args;
    return 0;
}

static int
choose_both(struct nni_start *n, struct session_setup *s, struct err *err)
{
    struct exp_params *p = &n->params;

    if (p->assessor.given && !p->assessor_ignored && p->tuner.name != NULL &&
        names_is_advisor(p->tuner.name)) {
        p->assessor_ignored = true;
        p->assessor.given = false;
    }
    if (p->assessor_ignored)
        log_warning(&n->log, "the assessor is ignored: an advisor is tuner and "
                             "assessor in one");
    if (p->multi_thread)
        log_info(&n->log, "multiThread is ignored: commands are handled in "
                          "their order");
    if (choose(n, PLUGIN_TUNER, &p->tuner, &n->args[0], &s->tuner,
               &s->tuner_args, err) != 0)
        return -1;
    return p->assessor.given
               ? choose(n, PLUGIN_ASSESSOR, &p->assessor, &n->args[1],
                        &s->assessor, &s->assessor_args, err)
               : 0;
}

/* For where classArgs has none. */
static int
draw_seed(uint64_t *out, struct err *err)
{
    if (getrandom(out, sizeof *out, 0) != sizeof *out)
        return err_errno(err, ERR_SYSTEM, "cannot draw a seed");
    *out >>= 64 - SEED_BITS;
    return 0;
}

/* ---- the session ---- */

static int
begin_new(struct nni_start *n, struct session_setup *s, struct err *err)
{
    s->policy = (struct policy){
        .stopped = n->environment.intermediate ? TELL_LATEST : TELL_NOTHING,
        .nni = true,
        .again = true};
    s->checkpoint_folder = n->environment.checkpoint;
    if (choose_both(n, s, err) != 0)
        return -1;
    return draw_seed(&s->seed, err);
}

/* Who changes the configuration of an experiment that goes on is told that it
 * does so as it began. */
static void
compare_tuner(struct nni_start *n)
{
    const struct session *session = n->resumption.resume.session;
    const char *told = name_of(&n->params.tuner, PLUGIN_TUNER), *plugin;

    if (told == NULL || !names_known(PLUGIN_TUNER, told) ||
        session->tuner == NULL ||
        names_resolve(n->paths, PLUGIN_TUNER, told, &plugin, NULL) != 0)
        return;
    if (strcasecmp(plugin, tuner_plugin(session->tuner)->name) != 0)
        log_warning(&n->log,
                    "the log's tuner %s goes on, and not %s of the "
                    "configuration: a log is of one tuner",
                    tuner_plugin(session->tuner)->name, told);
}

/* The log's head has tuner, assessor and seed. */
static int
begin_again(struct nni_start *n, struct dispatcher_setup *setup,
            struct err *err)
{
    const char *skips[NNI_CRASHES_MAX];

    nni_crashes_read(setup->folder, &n->crashes);
    for (size_t i = 0; i < n->crashes.n; i++) {
        skips[i] = n->crashes.words[i];
        log_warning(
            &n->log,
            "a plugin's handling of command %s ended the dispatcher: it "
            "counts as failed",
            skips[i]);
    }
    if (resumption_begin(&n->resumption, setup->folder, skips, n->crashes.n,
                         n->paths, &n->log, setup, err) != 0)
        return -1;
    compare_tuner(n);
    journal_say(&n->journal, LOG_INFO, NULL, "Load checkpoint %s",
                setup->folder);
    return 0;
}

/* A log that a new experiment finds in its folder is an earlier experiment's.
 */
static int
make_room(struct nni_start *n, const char *folder, struct err *err)
{
    char aside[LOG_ASIDE_MAX];

    if (!log_exists(folder))
        return 0;
    if (log_set_aside(folder, aside, err) != 0)
        return -1;
    log_warning(&n->log, "%s: the log of an earlier experiment is now in %s",
                folder, aside);
    return 0;
}

static int
begin(struct nni_start *n, struct dispatcher_setup *setup, struct err *err)
{
    const char *folder = n->environment.checkpoint;

    if (exp_params_read(n->text, &n->params, err) != 0)
        return -1;
    n->paths = plugin_paths_new(NULL, err);
    if (n->paths == NULL)
        return -1;
    setup->session.paths = n->paths;
    setup->folder = folder;
    if (folder != NULL && n->environment.resume && log_exists(folder))
        return begin_again(n, setup, err);
    if (folder != NULL && n->environment.resume && log_was_left(folder))
        log_info(&n->log,
                 "%s: the dispatcher before died before it had recorded "
                 "anything: a new session begins",
                 folder);
    if (begin_new(n, &setup->session, err) != 0)
        return -1;
    if (folder != NULL)
        return make_room(n, folder, err);
    log_info(&n->log, "no command log is kept: NNI_CHECKPOINT_DIRECTORY is not "
                      "set");
    return 0;
}

/* The lines that people look for. */
static void
note_begun(void *ctx, const struct session *session)
{
    const struct nni_start *n = ctx;
    char logger[96];

    if (session->tuner != NULL) {
        snprintf(logger, sizeof logger, "nni.tuner.%s",
                 tuner_plugin(session->tuner)->name);
        journal_say(&n->journal, LOG_INFO, logger, "Using random seed %" PRIu64,
                    tuner_seed(session->tuner));
    }
    journal_say(&n->journal, LOG_INFO, NULL, "Dispatcher started");
    if (n->crashes.n > 0) /* the log has them now */
        nni_crashes_forget(n->environment.checkpoint);
}

static int
judge(enum dispatcher_end end, int signal_number, struct err *err)
{
    switch (end) {
    case DISPATCHER_END_OF_FILE:
    case DISPATCHER_TERMINATED:
        return EXIT_DONE;
    case DISPATCHER_SIGNALLED:
        err_set(err, ERR_NONE, "stopped by %s",
                signal_number == SIGTERM  ? "SIGTERM"
                : signal_number == SIGHUP ? "SIGHUP"
                                          : "SIGINT");
        return 128 + signal_number;
    case DISPATCHER_FAILED:
        return verb_fail("nni", err);
    case DISPATCHER_GRACE_OVER:
        break;
    }
    err_set(err, ERR_NONE,
            "stopped while a plugin was computing, which it still did after "
            "%d s",
            NNI_GRACE_MS / 1000);
    return EXIT_GRACE;
}

int
nni_start_run(struct nni_start *n, int in_fd, int out_fd, struct err *err)
{
    struct dispatcher_setup setup = {
        .session = {.max_payload = FRAME_PAYLOAD_MAX_DEFAULT},
        .in_fd = in_fd,
        .out_fd = out_fd,
        .sync = {SYNC_INTERVAL, SYNC_INTERVAL_MS_DEFAULT},
        .segments = {.size = SEGMENT_SIZE_DEFAULT},
        .log_retry_ms = DISPATCHER_LOG_RETRY_MS,
        .max_queued = FRAME_PAYLOAD_MAX_DEFAULT,
        .grace_ms = NNI_GRACE_MS,
        .log = &n->log,
        .wanted = n->wanted.fd >= 0 ? &n->wanted : NULL,
        .begun = note_begun,
        .begun_ctx = n,
    };
    enum dispatcher_end end;
    int signal_number = 0, status;

    if (begin(n, &setup, err) != 0) {
        status = verb_fail("nni", err);
    } else {
        setup.session.digits = FRAME_DIGITS_DETECT;
        end = dispatcher_run(&setup, &signal_number, err);
        n->at_work = end == DISPATCHER_GRACE_OVER || end == DISPATCHER_FAILED;
        status = judge(end, signal_number, err);
    }
    if (status != EXIT_DONE)
        journal_say(&n->journal, LOG_ERROR, NULL, "%s", err->text);
    journal_say(&n->journal, LOG_INFO, NULL, "Dispatcher exiting...");
    journal_say(&n->journal, LOG_INFO, NULL, "Dispatcher terminiated");
    return status;
}

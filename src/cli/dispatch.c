/* SPDX-License-Identifier: MIT */
#include "cli/verb.h"

#include "cli/exitguard.h"
#include "cli/filters.h"
#include "cli/options.h"
#include "cli/resumption.h"
#include "config/experiment.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/log.h"
#include "core/number.h"
#include "core/problems.h"
#include "dispatcher/dispatcher.h"
#include "frame.h"
#include "plugin/paths.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

static const char help[] =
    "usage: tunepipe dispatch (--config FILE | --tuner NAME) [OPTIONS]\n"
    "       tunepipe dispatch --resume --dir DIR [OPTIONS]\n"
    "\n"
    "Reads commands from a pipe, asks a tuner and an assessor, answers.  The\n"
    "protocol is described in PROTOCOL.md.  An experiment manager starts this;\n"
    "people use tunepipe run.\n"
    "\n"
    "  --config FILE           tuner, filters, assessor, seed, earlyStopped,\n"
    "                          sync of an experiment; options here go before it\n"
    "  --tuner NAME            a plugin's name (see tunepipe tuners) or file\n"
    "  --tuner-args JSON       its arguments, as an object\n"
    "  --filter NAME[:JSON]    a filter around it, with its arguments; may be\n"
    "                          given several times, the first is the outermost\n"
    "  --assessor NAME, --assessor-args JSON\n"
    "  --seed N                for random numbers; drawn and logged when not\n"
    "                          given\n"
    "  --dir DIR               experiment folder: command.log is written there;\n"
    "                          without it no log is kept\n"
    "  --sync none|interval:MS|always\n"
    "                          when the log goes to stable storage: at the end,\n"
    "                          within so many milliseconds, or before anything\n"
    "                          takes effect (default interval:1000)\n"
    "  --resume                go on with the session recorded in DIR, which has\n"
    "                          tuner, seed and all that answers depend on\n"
    "  --skip t:N, --skip a:N  there, command N ended the process before: the\n"
    "                          tuner's (t) or the assessor's (a) half of it is\n"
    "                          handled as if the plugin had failed\n"
    "  --in-fd N, --out-fd N   the pipe (default 0 and 1; NNI uses 3 and 4)\n"
    "  --digits 14|6           width of a frame's length (6: NNI before 1.6)\n"
    "  --extensions            the wire's extensions, see PROTOCOL.md\n"
    "  --early-stopped ignore|latest|best\n"
    "                          what the tuner is told of a trial that was\n"
    "                          stopped early (default latest)\n"
    "  --on-error skip|fail    what a plugin's error costs: its command, or\n"
    "                          the session (default skip)\n"
    "  --ask-error refuse|prior\n"
    "                          what a failing ask gets: no trial, or a sample\n"
    "                          of the prior (default refuse)\n"
    "  --max-payload SIZE      largest payload of a frame (default 64M)\n"
    "  --max-queued SIZE       above it nothing is read (default 64M)\n"
    "  --grace DURATION        how long a stop may take (default 2s)\n"
    "  --plugin-path DIRS      folders of plugins, separated by colons\n"
    "  --debug, --quiet        more, or fewer, lines on stderr\n"
    "\n"
    "Example: tunepipe dispatch --tuner random --seed 1 --dir /tmp/first\n"
    "\n"
    "Exit status: 0 end of file or Terminate; 1 failed; 2 usage; 3 tuner,\n"
    "assessor or arguments wrong; 4 the byte stream is broken, or the manager\n"
    "reads no more; 5 the log cannot be written; 6 a plugin was still computing\n"
    "when the grace ended; 143, 130 stopped by SIGTERM, SIGINT.\n";

struct words {
    const char *config, *tuner, *tuner_args, *assessor, *assessor_args;
    const char *seed_text, *early_stopped, *on_error, *ask_error, *folder,
        *sync_text, *plugin_path;
    struct option_list filters;
    uint64_t seed, in_fd, out_fd, digits;
    size_t max_payload, max_queued;
    struct sync_policy sync;
    int64_t grace_ms;
    bool extensions, debug, quiet, has_seed, resume;
    struct option_list skips;
};

#define OF(member) offsetof(struct words, member)
static const struct option options[] = {
    {"config", OPTION_TEXT, OF(config), "FILE"},
    {"tuner", OPTION_TEXT, OF(tuner), "TUNER"},
    {"tuner-args", OPTION_TEXT, OF(tuner_args), "JSON"},
    {"filter", OPTION_LIST, OF(filters), "NAME[:JSON]"},
    {"assessor", OPTION_TEXT, OF(assessor), "ASSESSOR"},
    {"assessor-args", OPTION_TEXT, OF(assessor_args), "JSON"},
    {"seed", OPTION_TEXT, OF(seed_text), "N"},
    {"dir", OPTION_TEXT, OF(folder), "FOLDER"},
    {"sync", OPTION_TEXT, OF(sync_text), "none|interval:MS|always"},
    {"resume", OPTION_FLAG, OF(resume), NULL},
    {"skip", OPTION_LIST, OF(skips), "t:N|a:N"},
    {"in-fd", OPTION_UINT, OF(in_fd), "N"},
    {"out-fd", OPTION_UINT, OF(out_fd), "N"},
    {"digits", OPTION_UINT, OF(digits), "14|6"},
    {"extensions", OPTION_FLAG, OF(extensions), NULL},
    {"early-stopped", OPTION_TEXT, OF(early_stopped), "ignore|latest|best"},
    {"on-error", OPTION_TEXT, OF(on_error), "skip|fail"},
    {"ask-error", OPTION_TEXT, OF(ask_error), "refuse|prior"},
    {"max-payload", OPTION_SIZE, OF(max_payload), "SIZE"},
    {"max-queued", OPTION_SIZE, OF(max_queued), "SIZE"},
    {"grace", OPTION_DURATION, OF(grace_ms), "DURATION"},
    {"plugin-path", OPTION_TEXT, OF(plugin_path), "FOLDERS"},
    {"debug", OPTION_FLAG, OF(debug), NULL},
    {"quiet", OPTION_FLAG, OF(quiet), NULL},
};
#undef OF
#define N_OPTIONS (sizeof options / sizeof *options)

/* All that answers depend on is in the log. */
static int
check_resume(const struct words *w, struct err *err)
{
    const struct {
        const char *name;
        bool given;
    } settled[] = {
        {"config", w->config != NULL},
        {"tuner", w->tuner != NULL},
        {"tuner-args", w->tuner_args != NULL},
        {"filter", w->filters.n > 0},
        {"assessor", w->assessor != NULL},
        {"assessor-args", w->assessor_args != NULL},
        {"seed", w->seed_text != NULL},
        {"early-stopped", w->early_stopped != NULL},
        {"on-error", w->on_error != NULL},
        {"ask-error", w->ask_error != NULL},
        {"extensions", w->extensions},
    };

    for (size_t i = 0; i < sizeof settled / sizeof *settled; i++)
        if (settled[i].given)
            return err_set(err, ERR_USAGE,
                           "--%s: not with --resume: the log has it",
                           settled[i].name);
    if (w->folder == NULL)
        return err_set(err, ERR_USAGE, "--resume: expected --dir DIR, too");
    return 0;
}

static int
parse_words(struct words *w, int argc, char **argv, struct err *err)
{
    if (options_parse(options, N_OPTIONS, w, &argc, argv, err) != 0)
        return -1;
    if (argc > 1)
        return err_set(err, ERR_USAGE, "unexpected word '%s'; see --help",
                       argv[1]);
    if (w->sync_text != NULL &&
        sync_policy_parse(w->sync_text, &w->sync, err) != 0)
        return err_place(err, "--sync");
    if (w->resume)
        return check_resume(w, err);
    if (w->skips.n > 0)
        return err_set(err, ERR_USAGE, "--skip: only with --resume");
    if (w->config == NULL && w->tuner == NULL)
        return err_set(err, ERR_USAGE,
                       "expected --config FILE or --tuner NAME; see --help");
    if (w->digits != FRAME_DIGITS && w->digits != FRAME_DIGITS_OLD)
        return err_set(err, ERR_USAGE,
                       "--digits: expected 14 or 6, got %" PRIu64, w->digits);
    if (w->in_fd > 65535 || w->out_fd > 65535)
        return err_set(err, ERR_USAGE,
                       "--in-fd, --out-fd: expected at most "
                       "65535");
    w->has_seed = w->seed_text != NULL;
    if (w->has_seed &&
        (!number_parse_u64(w->seed_text, strlen(w->seed_text), &w->seed) ||
         w->seed > INT64_MAX))
        return err_set(err, ERR_USAGE,
                       "--seed: expected an integer from 0 to %" PRId64
                       ", got '%s'",
                       INT64_MAX, w->seed_text);
    return 0;
}

/* What stands in the configuration and not on the command line. */
static int
read_config(struct words *w, struct experiment **out, struct err *err)
{
    struct problems problems;
    struct experiment *x;

    if (w->config == NULL)
        return 0;
    problems_init(&problems);
    x = experiment_read(w->config, EXPERIMENT_DISPATCH, &problems, NULL, err);
    if (x == NULL && problems.count > 1)
        fputs(buf_text(&problems.lines), stderr);
    problems_fini(&problems);
    *out = x;
    if (x == NULL)
        return -1;
    if (w->tuner == NULL) {
        w->tuner = x->tuner.plugin != NULL ? x->tuner.plugin : x->tuner.name;
        if (w->tuner_args == NULL)
            w->tuner_args = x->tuner.args;
    }
    if (w->assessor == NULL && x->assessor.line != 0) {
        w->assessor =
            x->assessor.plugin != NULL ? x->assessor.plugin : x->assessor.name;
        if (w->assessor_args == NULL)
            w->assessor_args = x->assessor.args;
    }
    if (!w->has_seed && x->has_seed) {
        w->seed = x->seed;
        w->has_seed = true;
    }
    if (w->sync_text == NULL)
        w->sync = x->sync;
    if (w->early_stopped == NULL)
        w->early_stopped = early_stopped_name(x->early_stopped);
    if (w->tuner == NULL)
        return err_set(err, ERR_CONFIG, "%s: tuner: expected one", w->config);
    return 0;
}

static int
set_policy(const struct words *w, struct policy *p, struct err *err)
{
    *p = (struct policy){.stopped = TELL_LATEST, .extensions = w->extensions};
    if (w->early_stopped != NULL &&
        policy_set_stopped(p, w->early_stopped, err) != 0)
        return err_place(err, "--early-stopped");
    if (w->on_error != NULL && policy_set_on_error(p, w->on_error, err) != 0)
        return err_place(err, "--on-error");
    if (w->ask_error != NULL && policy_set_ask_error(p, w->ask_error, err) != 0)
        return err_place(err, "--ask-error");
    return 0;
}

static struct json *
parse_args(const char *option, const char *text, struct err *err)
{
    struct json *doc;

    if (text == NULL)
        text = "{}";
    doc = json_parse(text, strlen(text), JSON_UNIQUE, err);
    if (doc == NULL)
        err_place(err, "--%s", option);
    if (err->code == ERR_INPUT)
        err->code = ERR_USAGE;
    return doc;
}

static int
choose_seed(struct words *w, const struct log *log, struct err *err)
{
    if (w->has_seed)
        return 0;
    if (getrandom(&w->seed, sizeof w->seed, 0) != sizeof w->seed)
        return err_errno(err, ERR_SYSTEM, "cannot draw a seed");
    w->seed >>= 32; /* short enough to be typed */
    log_info(log,
             "seed %" PRIu64 " was drawn; --seed %" PRIu64
             " gives the same answers again",
             w->seed, w->seed);
    return 0;
}

static int
status_of(enum dispatcher_end end, int signal_number, const struct err *err)
{
    switch (end) {
    case DISPATCHER_END_OF_FILE:
    case DISPATCHER_TERMINATED:
        return EXIT_DONE;
    case DISPATCHER_SIGNALLED:
        return 128 + signal_number;
    case DISPATCHER_FAILED:
        return verb_fail("dispatch", err);
    case DISPATCHER_GRACE_OVER:
        break;
    }
    return EXIT_GRACE;
}

static int
dispatch(const struct words *w, struct dispatcher_setup *setup, struct err *err)
{
    enum dispatcher_end end;
    int signal_number, status;

    if (w->folder == NULL)
        log_info(setup->log, "no command log is kept (see --dir)");
    end = dispatcher_run(setup, &signal_number, err);
    status = status_of(end, signal_number, err);
    /* A plugin may still be running: its thread must not see the process
     * being taken down around it. */
    if (end == DISPATCHER_GRACE_OVER || end == DISPATCHER_FAILED)
        _exit(status);
    return status;
}

static int
begin_session(struct words *w, const struct experiment *x,
              struct session_setup *session, struct json *args[2],
              struct filters *filters, const struct log *log, struct err *err)
{
    session->tuner = w->tuner;
    session->assessor = w->assessor;
    if (set_policy(w, &session->policy, err) != 0 ||
        (args[0] = parse_args("tuner-args", w->tuner_args, err)) == NULL ||
        (args[1] = parse_args("assessor-args", w->assessor_args, err)) ==
            NULL ||
        filters_read(filters, &w->filters, x, session, err) != 0 ||
        choose_seed(w, log, err) != 0)
        return -1;
    session->tuner_args = json_root(args[0]);
    session->assessor_args = json_root(args[1]);
    session->seed = w->seed;
    session->program_folder = x != NULL ? x->folder : NULL;
    return 0;
}

static int
run_with(struct words *w, const struct experiment *x, const struct log *log,
         struct err *err)
{
    struct dispatcher_setup setup = {
        .session = {.digits = (int)w->digits, .max_payload = w->max_payload},
        .in_fd = (int)w->in_fd,
        .out_fd = (int)w->out_fd,
        .folder = w->folder,
        .sync = w->sync,
        .log_retry_ms = DISPATCHER_LOG_RETRY_MS,
        .max_queued = w->max_queued,
        .grace_ms = w->grace_ms,
        .log = log,
    };
    struct plugin_paths *paths = plugin_paths_new(w->plugin_path, err);
    struct filters filters = {{NULL}, {NULL}};
    struct resumption resumption = {0};
    struct json *args[2] = {NULL, NULL};
    int rc = -1, status;

    setup.session.paths = paths;
    if (paths != NULL)
        rc = w->resume ? resumption_begin(&resumption, w->folder, &w->skips,
                                          paths, log, &setup, err)
                       : begin_session(w, x, &setup.session, args, &filters,
                                       log, err);
    status = rc == 0 ? dispatch(w, &setup, err) : verb_fail("dispatch", err);
    resumption_fini(&resumption);
    plugin_paths_free(paths);
    filters_fini(&filters);
    json_free(args[0]);
    json_free(args[1]);
    return status;
}

static int
run(int argc, char **argv)
{
    struct words w = {
        .out_fd = 1,
        .digits = FRAME_DIGITS,
        .max_payload = FRAME_PAYLOAD_MAX_DEFAULT,
        .max_queued = (size_t)64 << 20,
        .sync = {SYNC_INTERVAL, SYNC_INTERVAL_MS_DEFAULT},
        .grace_ms = 2000,
    };
    atomic_ulong lost = 0;
    struct log log = {
        .fd = 2, .most = LOG_INFO, .name = "tunepipe", .lost = &lost};
    struct experiment *x = NULL;
    bool *expected;
    struct err err;
    int status;

    err_clear(&err);
    if (parse_words(&w, argc, argv, &err) != 0 ||
        read_config(&w, &x, &err) != 0) {
        experiment_free(x);
        return verb_fail("dispatch", &err);
    }
    if (w.debug)
        log.most = LOG_DEBUG;
    if (w.quiet)
        log.most = LOG_WARNING;
    expected = exitguard_set();
    status = run_with(&w, x, &log, &err);
    exitguard_lift(expected);
    experiment_free(x);
    return status;
}

const struct verb verb_dispatch = {
    .name = "dispatch",
    .summary = "serve an experiment manager over a pipe",
    .help = help,
    .run = run,
    .options = options,
    .n_options = N_OPTIONS,
};

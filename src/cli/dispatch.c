/* SPDX-License-Identifier: MIT */
#include "cli/verb.h"

#include "cli/direction.h"
#include "cli/dispatch_words.h"
#include "cli/endpoint.h"
#include "cli/exitguard.h"
#include "cli/filters.h"
#include "cli/options.h"
#include "config/experiment.h"
#include "core/err.h"
#include "core/file.h"
#include "core/log.h"
#include "dispatcher/dispatcher.h"
#include "frame.h"
#include "nni/pyclass.h"
#include "plugin/paths.h"
#include "replay/resumption.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

_Static_assert(OPTION_LIST_MAX <= RESUMPTION_SKIPS_MAX,
               "every --skip that can be given finds a place");

static const char help[] =
    "usage: tunepipe dispatch [--config FILE | --tuner NAME] [OPTIONS]\n"
    "       tunepipe dispatch --resume --dir DIR [OPTIONS]\n"
    "\n"
    "Reads commands from a pipe, asks a tuner and an assessor, answers.  The\n"
    "protocol is described in PROTOCOL.md.  An experiment manager starts this;\n"
    "people use tunepipe run.\n"
    "\n"
    "  --config FILE           tuner, filters, assessor, direction, seed,\n"
    "                          earlyStopped, sync, segmentSize, oldSegments of\n"
    "                          an experiment; options here go before it\n"
    "  --tuner NAME            a plugin's name (see tunepipe tuners) or file;\n"
    "                          auto when neither this nor --config is given\n"
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
    "  --segment-size SIZE     when the log is so long it is sealed, as\n"
    "                          command.1.log and so on, and begun anew; 0: never\n"
    "                          (default 8M)\n"
    "  --old-segments keep|compress|drop\n"
    "                          what becomes of those that two snapshots stand\n"
    "                          for (default keep)\n"
    "  --resume                go on with the session recorded in DIR, which has\n"
    "                          tuner, seed and all that answers depend on; where\n"
    "                          the dispatcher died before it had recorded\n"
    "                          anything, begin a new one by the other words\n"
    "  --skip t:N, --skip a:N  there, command N ended the process before: the\n"
    "                          tuner's (t) or the assessor's (a) half of it is\n"
    "                          handled as if the plugin had failed\n"
    "  --in-fd N, --out-fd N   the pipe (default 0 and 1; NNI uses 3 and 4)\n"
    "  --connect unix:PATH     instead, a stream socket that a manager listens\n"
    "                          on\n"
    "  --listen unix:PATH      instead, a stream socket that one manager may\n"
    "                          connect to (NNI's --dispatcher-pipe)\n"
    "  --digits 14|6|detect    width of a frame's length (6: NNI before 1.6);\n"
    "                          detect, with a socket the default: that of the\n"
    "                          manager's first frame\n"
    "  --extensions            the wire's extensions, see PROTOCOL.md\n"
    "  --nni                   the manager is NNI's: what one that is started\n"
    "                          again says of trials before it is compared with\n"
    "                          the log\n"
    "  --direction minimize|maximize\n"
    "                          which results are better: tuner, assessor and\n"
    "                          filters are given it as their optimize_mode;\n"
    "                          without it, what --config says, which then has\n"
    "                          to say it\n"
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
    "when the grace ended; 143, 130, 129 stopped by SIGTERM, SIGINT,\n"
    "SIGHUP.\n";

static int
set_policy(const struct dispatch_words *w, struct policy *p, struct err *err)
{
    *p = (struct policy){.stopped = TELL_LATEST,
                         .extensions = w->extensions,
                         .nni = w->nni,
                         .again = w->nni};
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

/* The arguments of `exec` that runs a Python class with these ones. */
static struct json *
parse_class(const char *kind, const struct algorithm *a, const char *text,
            struct err *err)
{
    char option[32];
    struct json *args, *doc = NULL;
    struct pyclass c = {.kind = kind,
                        .class_name = a->class_name,
                        .code_directory = a->code_folder,
                        .owes = true};

    snprintf(option, sizeof option, "%s-args", kind);
    args = parse_args(option, text, err);
    if (args != NULL) {
        c.args = json_root(args);
        doc = pyclass_arguments(&c, err);
    }
    json_free(args);
    return doc;
}

static int
parse_both(const struct dispatch_words *w, struct json *out[2], struct err *err)
{
    out[0] = w->tuner_class != NULL
                 ? parse_class("tuner", w->tuner_class, w->tuner_args, err)
                 : parse_args("tuner-args", w->tuner_args, err);
    if (out[0] == NULL)
        return -1;
    out[1] =
        w->assessor_class != NULL
            ? parse_class("assessor", w->assessor_class, w->assessor_args, err)
            : parse_args("assessor-args", w->assessor_args, err);
    return out[1] == NULL ? -1 : 0;
}

/* DIR/checkpoint, whether it is there already or not; NULL: no --dir. */
static char *
checkpoint_folder(const char *dir)
{
    char *here = dir != NULL && dir[0] != '/' ? realpath(".", NULL) : NULL;
    char *folder = here != NULL ? file_join(here, dir) : NULL, *all = NULL;

    if (dir != NULL && dir[0] == '/')
        all = file_join(dir, "checkpoint");
    else if (folder != NULL)
        all = file_join(folder, "checkpoint");
    free(here);
    free(folder);
    return all;
}

static int
choose_seed(struct dispatch_words *w, const struct log *log, struct err *err)
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
dispatch(const struct dispatch_words *w, struct dispatcher_setup *setup,
         struct err *err)
{
    enum dispatcher_end end;
    int signal_number = 0, status;

    if (w->connect != NULL)
        setup->in_fd = endpoint_connect(w->connect, err);
    if (w->listen != NULL)
        setup->in_fd = endpoint_listen(w->listen, &signal_number, err);
    if (setup->in_fd < 0)
        return signal_number != 0 ? 128 + signal_number
                                  : verb_fail("dispatch", err);
    if (w->connect != NULL || w->listen != NULL)
        setup->out_fd = setup->in_fd;
    if (w->digits == FRAME_DIGITS_DETECT) /* and not those in the log */
        setup->session.digits = FRAME_DIGITS_DETECT;
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

/* What arguments say of it; NULL: nothing. */
static const char *
direction_in(const struct json *args)
{
    struct jval mode;
    const char *word;

    if (jval_get(json_root(args), "optimize_mode", &mode) &&
        jval_string(mode, &word, NULL))
        return policy_direction_of(word);
    return NULL;
}

/* Without a configuration no direction need be said, and then nobody is told
 * one: a manager that starts us so knows what it gives its plugins. */
static int
set_direction(const struct dispatch_words *w, const struct experiment *x,
              struct json *const args[2], struct policy *p, struct err *err)
{
    const char *word = w->direction;

    if (x != NULL) {
        if (word == NULL && strcmp(x->mode_from, EXPERIMENT_MODE_KEY) == 0)
            word = experiment_direction(x);
        for (int i = 0; i < 2 && word == NULL; i++)
            word = direction_in(args[i]);
        if (word == NULL && direction_check(x, w->config, err) != 0)
            return -1;
        if (word == NULL)
            word = experiment_direction(x);
    }
    return word == NULL ? 0 : policy_set_direction(p, word, err);
}

static int
begin_session(struct dispatch_words *w, const struct experiment *x,
              struct session_setup *session, struct json *args[2],
              struct filters *filters, const struct log *log, struct err *err)
{
    if (w->unbegun)
        log_info(log,
                 "%s: the dispatcher before died before it had recorded "
                 "anything: a new session begins, with tuner %s",
                 w->folder, w->tuner);
    session->tuner = w->tuner;
    session->assessor = w->assessor;
    if (set_policy(w, &session->policy, err) != 0 ||
        parse_both(w, args, err) != 0 ||
        set_direction(w, x, args, &session->policy, err) != 0 ||
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
run_with(struct dispatch_words *w, const struct experiment *x,
         const struct log *log, struct err *err)
{
    struct dispatcher_setup setup = {
        .session = {.digits = w->digits, .max_payload = w->max_payload},
        .in_fd = (int)w->in_fd,
        .out_fd = (int)w->out_fd,
        .folder = w->folder,
        .sync = w->sync,
        .segments = {w->segment_size, w->old},
        .log_retry_ms = DISPATCHER_LOG_RETRY_MS,
        .max_queued = w->max_queued,
        .grace_ms = w->grace_ms,
        .log = log,
    };
    struct plugin_paths *paths = plugin_paths_new(w->plugin_path, err);
    struct filters filters = {{NULL}, {NULL}};
    struct resumption resumption = {0};
    struct json *args[2] = {NULL, NULL};
    char *checkpoints = checkpoint_folder(w->folder);
    int rc = -1, status;

    setup.session.paths = paths;
    if (!w->resume) /* the log has it */
        setup.session.checkpoint_folder = checkpoints;
    if (paths != NULL)
        rc =
            w->resume
                ? resumption_begin(&resumption, w->folder, w->skips.words,
                                   w->skips.n, paths, log, &setup, err)
                : begin_session(w, x, &setup.session, args, &filters, log, err);
    status = rc == 0 ? dispatch(w, &setup, err) : verb_fail("dispatch", err);
    resumption_fini(&resumption);
    plugin_paths_free(paths);
    filters_fini(&filters);
    free(checkpoints);
    json_free(args[0]);
    json_free(args[1]);
    return status;
}

static int
run(int argc, char **argv)
{
    struct dispatch_words w = {
        .in_fd = UINT64_MAX,
        .out_fd = UINT64_MAX,
        .max_payload = FRAME_PAYLOAD_MAX_DEFAULT,
        .max_queued = (size_t)64 << 20,
        .segment_size = SIZE_MAX,
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
    if (dispatch_words_read(&w, argc, argv, &err) != 0 ||
        dispatch_words_config(&w, &x, &err) != 0) {
        experiment_free(x);
        return verb_fail("dispatch", &err);
    }
    if (w.segment_size == SIZE_MAX)
        w.segment_size = SEGMENT_SIZE_DEFAULT;
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
    .options = dispatch_options,
    .n_options = DISPATCH_N_OPTIONS,
};

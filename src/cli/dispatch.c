/* SPDX-License-Identifier: MIT */
#include "cli/direction.h"
#include "cli/exitguard.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "config/configuration.h"
#include "config/experiment.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/log.h"
#include "core/number.h"
#include "core/problems.h"
#include "core/log_policy.h"
#include "core/stop_signals.h"
#include "dispatcher/dispatcher.h"
#include "dispatcher/session.h"
#include "frame.h"
#include "log/log.h"
#include "nni/names.h"
#include "nni/pyclass.h"
#include "objectives/objectives.h"
#include "plugin/paths.h"
#include "replay/resumption.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* The filters of a session, from which its setup borrows. */
struct filters {
    char *names[SESSION_FILTERS_MAX];
    struct json *args[SESSION_FILTERS_MAX];
};

struct dispatch_words {
    unsigned tuner_line, assessor_line; /* in the configuration; 0: not there */
    const char *config, *tuner, *tuner_args, *assessor, *assessor_args;
    const char *direction;                       /* NULL: not given */
    const char *objectives, *assessor_objective; /* NULL: not given */
    const char *seed_text, *early_stopped, *on_error, *ask_error, *folder,
        *sync_text, *old_text, *plugin_path, *connect, *listen, *digits_text;
    /* The algorithm of the configuration, where it is a Python class; its
     * arguments stand in tuner_args and assessor_args. */
    const struct algorithm *tuner_class, *assessor_class;
    struct option_list filters;
    uint64_t seed, in_fd, out_fd; /* UINT64_MAX: not given */
    int digits;                   /* may be FRAME_DIGITS_DETECT */
    size_t max_payload, max_queued, segment_size; /* SIZE_MAX: not given */
    struct sync_policy sync;
    enum old_segments old;
    int64_t grace_ms;
    bool extensions, nni, debug, quiet, has_seed, resume;
    bool unbegun; /* for --resume where nothing is recorded: begin a new session
                   */
    struct option_list skips;
};

#define DISPATCH_N_OPTIONS 32

static void filters_fini(struct filters *f);

_Static_assert(OPTION_LIST_MAX <= SESSION_FILTERS_MAX &&
                   EXPERIMENT_FILTERS_MAX <= SESSION_FILTERS_MAX,
               "every filter that can be named finds a place");

static int
add(struct filters *f, struct session_setup *setup, const char *name,
    size_t name_len, const char *args, struct err *err)
{
    size_t i = setup->n_filters;

    f->names[i] = strndup(name, name_len);
    if (f->names[i] == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    f->args[i] = json_parse(args, strlen(args), JSON_UNIQUE, err);
    if (f->args[i] == NULL) {
        if (err->code == ERR_INPUT)
            err->code = ERR_USAGE;
        return err_place(err, "--filter %.64s", f->names[i]);
    }
    setup->filters[i].name = f->names[i];
    setup->filters[i].args = json_root(f->args[i]);
    setup->n_filters++;
    return 0;
}

static int
add_word(struct filters *f, struct session_setup *setup, const char *word,
         struct err *err)
{
    size_t len = strcspn(word, ":");

    if (len == 0)
        return err_set(err, ERR_USAGE,
                       "--filter: expected NAME or NAME:JSON, got '%.100s'",
                       word);
    return add(f, setup, word, len, word[len] == ':' ? word + len + 1 : "{}",
               err);
}

/* Fills setup->filters from the words NAME or NAME:JSON, or, when there are
 * none, from x (which may be NULL).  -1: err names the word; filters_fini() is
 * still to be called.  f is zeroed. */
static int
filters_read(struct filters *f, const struct option_list *words,
             const struct experiment *x, struct session_setup *setup,
             struct err *err)
{
    setup->n_filters = 0;
    for (size_t i = 0; i < words->n; i++)
        if (add_word(f, setup, words->words[i], err) != 0)
            return -1;
    if (words->n > 0 || x == NULL)
        return 0;
    for (size_t i = 0; i < x->n_filters; i++) {
        const struct algorithm *a = &x->filters[i];

        if (add(f, setup, a->name, strlen(a->name), a->args, err) != 0)
            return -1;
        setup->filters[i].line = a->line;
    }
    return 0;
}

static void
filters_fini(struct filters *f)
{
    for (size_t i = 0; i < SESSION_FILTERS_MAX; i++) {
        free(f->names[i]);
        json_free(f->args[i]);
    }
    *f = (struct filters){{NULL}, {NULL}};
}

/* ---- where the manager is spoken to ---- */

#define SCHEME "unix:"

static int
read_address(const char *word, struct sockaddr_un *out, struct err *err)
{
    const char *path = word + strlen(SCHEME);

    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strncmp(word, SCHEME, strlen(SCHEME)) != 0 || path[0] == '\0')
        return err_set(err, ERR_USAGE, "expected unix:PATH, got '%.100s'",
                       word);
    if (strlen(path) >= sizeof out->sun_path)
        return err_set(err, ERR_USAGE,
                       "%.200s: a socket's path has at most %zu bytes", path,
                       sizeof out->sun_path - 1);
    memcpy(out->sun_path, path, strlen(path));
    return 0;
}

static int
open_socket(struct err *err)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    return fd < 0 ? err_errno(err, ERR_SYSTEM, "socket") : fd;
}

static int
connect_to(int fd, const struct sockaddr_un *to)
{
    int rc;

    do {
        rc = connect(fd, (const struct sockaddr *)to, sizeof *to);
    } while (rc != 0 && errno == EINTR);
    return rc;
}

/* Connects to the socket; returns the descriptor, or -1. */
static int
endpoint_connect(const char *word, struct err *err)
{
    struct sockaddr_un to;
    int fd;

    if (read_address(word, &to, err) != 0 || (fd = open_socket(err)) < 0)
        return err_place(err, "--connect");
    if (connect_to(fd, &to) == 0)
        return fd;
    err_errno(err, ERR_SYSTEM, "--connect: %s: cannot connect", to.sun_path);
    close(fd);
    return -1;
}

/* Refuses a folder in which others could replace the socket by one of
 * theirs. */
static int
check_folder(const char *path, struct err *err)
{
    const char *slash = strrchr(path, '/');
    char folder[sizeof((struct sockaddr_un *)0)->sun_path + 1] = ".";
    struct stat st;

    if (slash != NULL)
        snprintf(folder, sizeof folder, "%.*s",
                 slash == path ? 1 : (int)(slash - path), path);
    if (stat(folder, &st) != 0)
        return err_errno(err, ERR_SYSTEM, "%s", folder);
    if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return err_set(err, ERR_SYSTEM,
                       "%s: others may write to it, expected a folder that "
                       "only you can write to",
                       folder);
    return 0;
}

/* Removes a socket that nobody listens on any more. */
static int
remove_left(const struct sockaddr_un *at, struct err *err)
{
    struct stat st;
    int fd, rc;

    if (lstat(at->sun_path, &st) != 0)
        return errno == ENOENT ? 0
                               : err_errno(err, ERR_SYSTEM, "%s", at->sun_path);
    if (!S_ISSOCK(st.st_mode))
        return err_set(err, ERR_SYSTEM, "%s: is there already, and no socket",
                       at->sun_path);
    fd = open_socket(err);
    if (fd < 0)
        return -1;
    rc = connect_to(fd, at);
    close(fd);
    if (rc == 0)
        return err_set(err, ERR_SYSTEM, "%s: somebody else listens there",
                       at->sun_path);
    return unlink(at->sun_path) == 0
               ? 0
               : err_errno(err, ERR_SYSTEM, "%s", at->sun_path);
}

static int
listen_at(const struct sockaddr_un *at, struct err *err)
{
    int fd = open_socket(err), rc;
    mode_t before;

    if (fd < 0)
        return -1;
    before = umask(0177);
    rc = bind(fd, (const struct sockaddr *)at, sizeof *at);
    umask(before);
    if (rc == 0 && listen(fd, 1) == 0)
        return fd;
    err_errno(err, ERR_SYSTEM, "%s: cannot listen", at->sun_path);
    if (rc == 0)
        unlink(at->sun_path);
    close(fd);
    return -1;
}

/* Waits for the first client. */
static int
await(int fd, int signals, int *signal_number, struct err *err)
{
    struct signalfd_siginfo info;
    struct pollfd fds[] = {{.fd = fd, .events = POLLIN},
                           {.fd = signals, .events = POLLIN}};
    int client;

    for (;;) {
        if (poll(fds, 2, -1) < 0)
            continue; /* EINTR */
        if (fds[1].revents != 0 &&
            read(signals, &info, sizeof info) == sizeof info) {
            *signal_number = (int)info.ssi_signo;
            return -1;
        }
        client = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
        if (client >= 0)
            return client;
        if (errno != EINTR && errno != ECONNABORTED && errno != EAGAIN)
            return err_errno(err, ERR_SYSTEM, "accept");
    }
}

/* Listens there (0600, in a folder that only the caller may write to) for one
 * client, and removes the file again as soon as it has come.  The descriptor;
 * -1: err tells, unless SIGTERM or SIGINT came before, which are blocked from
 * here on: *signal_number, else 0. */
static int
endpoint_listen(const char *word, int *signal_number, struct err *err)
{
    int fd = -1, signals = -1, client = -1;
    struct sockaddr_un at;

    *signal_number = 0;
    if (read_address(word, &at, err) == 0 &&
        check_folder(at.sun_path, err) == 0 && remove_left(&at, err) == 0 &&
        (signals = stop_signals_open(err)) >= 0 &&
        (fd = listen_at(&at, err)) >= 0) {
        client = await(fd, signals, signal_number, err);
        unlink(at.sun_path);
        close(fd);
    }
    if (signals >= 0)
        close(signals);
    return client >= 0 || *signal_number != 0 ? client
                                              : err_place(err, "--listen");
}

/* ---- the command line ---- */

#define OF(member) offsetof(struct dispatch_words, member)
static const struct option dispatch_options[DISPATCH_N_OPTIONS] = {
    {"config", OPTION_TEXT, OF(config), "FILE"},
    {"tuner", OPTION_TEXT, OF(tuner), "TUNER"},
    {"tuner-args", OPTION_TEXT, OF(tuner_args), "JSON"},
    {"filter", OPTION_LIST, OF(filters), "NAME[:JSON]"},
    {"assessor", OPTION_TEXT, OF(assessor), "ASSESSOR"},
    {"assessor-args", OPTION_TEXT, OF(assessor_args), "JSON"},
    {"seed", OPTION_TEXT, OF(seed_text), "N"},
    {"dir", OPTION_TEXT, OF(folder), "FOLDER"},
    {"sync", OPTION_TEXT, OF(sync_text), "none|interval:MS|always"},
    {"segment-size", OPTION_SIZE, OF(segment_size), "SIZE"},
    {"old-segments", OPTION_TEXT, OF(old_text), "keep|compress|drop"},
    {"resume", OPTION_FLAG, OF(resume), NULL},
    {"skip", OPTION_LIST, OF(skips), "t:N|a:N"},
    {"in-fd", OPTION_UINT, OF(in_fd), "N"},
    {"out-fd", OPTION_UINT, OF(out_fd), "N"},
    {"connect", OPTION_TEXT, OF(connect), "unix:PATH"},
    {"listen", OPTION_TEXT, OF(listen), "unix:PATH"},
    {"digits", OPTION_TEXT, OF(digits_text), "14|6|detect"},
    {"extensions", OPTION_FLAG, OF(extensions), NULL},
    {"nni", OPTION_FLAG, OF(nni), NULL},
    {"direction", OPTION_TEXT, OF(direction), "minimize|maximize"},
    {"objectives", OPTION_TEXT, OF(objectives), "JSON"},
    {"assessor-objective", OPTION_TEXT, OF(assessor_objective), "NAME"},
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

/* Refuses, beside --resume, what the log already says: all that answers depend
 * on. */
static int
check_resume(const struct dispatch_words *w, struct err *err)
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
        {"direction", w->direction != NULL},
        {"objectives", w->objectives != NULL},
        {"assessor-objective", w->assessor_objective != NULL},
        {"early-stopped", w->early_stopped != NULL},
        {"on-error", w->on_error != NULL},
        {"ask-error", w->ask_error != NULL},
        {"extensions", w->extensions},
        {"nni", w->nni},
    };

    for (size_t i = 0; i < sizeof settled / sizeof *settled; i++)
        if (settled[i].given)
            return err_set(err, ERR_USAGE,
                           "--%s: not with --resume: the log has it",
                           settled[i].name);
    return 0;
}

/* Reads where the manager is spoken to. */
static int
parse_channel(struct dispatch_words *w, struct err *err)
{
    bool socket = w->connect != NULL || w->listen != NULL;

    if (socket && (w->in_fd != UINT64_MAX || w->out_fd != UINT64_MAX))
        return err_set(err, ERR_USAGE,
                       "--in-fd, --out-fd: not with --connect or --listen");
    if (w->connect != NULL && w->listen != NULL)
        return err_set(err, ERR_USAGE, "--connect: not with --listen");
    w->in_fd = w->in_fd == UINT64_MAX ? 0 : w->in_fd;
    w->out_fd = w->out_fd == UINT64_MAX ? 1 : w->out_fd;
    if (w->in_fd > 65535 || w->out_fd > 65535)
        return err_set(err, ERR_USAGE,
                       "--in-fd, --out-fd: expected at most "
                       "65535");
    return 0;
}

static int
parse_digits(struct dispatch_words *w, struct err *err)
{
    const struct {
        const char *word;
        int digits;
    } words[] = {{"14", FRAME_DIGITS},
                 {"6", FRAME_DIGITS_OLD},
                 {"detect", FRAME_DIGITS_DETECT}};

    w->digits = w->connect != NULL || w->listen != NULL ? FRAME_DIGITS_DETECT
                                                        : FRAME_DIGITS;
    if (w->digits_text == NULL)
        return 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(w->digits_text, words[i].word) == 0) {
            w->digits = words[i].digits;
            return 0;
        }
    return err_set(err, ERR_USAGE,
                   "--digits: expected 14, 6 or detect, got '%s'",
                   w->digits_text);
}

/* Reads how the log is kept, on which no answer depends. */
static int
parse_log_words(struct dispatch_words *w, struct err *err)
{
    if (w->sync_text != NULL &&
        sync_policy_parse(w->sync_text, &w->sync, err) != 0)
        return err_place(err, "--sync");
    if (w->old_text != NULL &&
        old_segments_parse(w->old_text, &w->old, err) != 0)
        return err_place(err, "--old-segments");
    return 0;
}

/* Refuses what goes with objectives as little as they do without. */
static int
check_objectives(const struct dispatch_words *w, struct err *err)
{
    if (w->objectives == NULL && w->assessor_objective != NULL)
        return err_set(err, ERR_USAGE,
                       "--assessor-objective: only with --objectives");
    if (w->objectives == NULL)
        return 0;
    if (w->nni)
        return err_set(err, ERR_USAGE,
                       "--objectives: not with --nni, whose managers know one "
                       "number a result");
    if (w->direction != NULL)
        return err_set(err, ERR_USAGE,
                       "--direction: not with --objectives, of which each has "
                       "its own");
    return 0;
}

/* Reads the command line; *w has the defaults.  -1: err (ERR_USAGE) says which
 * word is wrong. */
static int
dispatch_words_read(struct dispatch_words *w, int argc, char **argv,
                    struct err *err)
{
    if (options_parse(dispatch_options, DISPATCH_N_OPTIONS, w, &argc, argv,
                      err) != 0)
        return -1;
    if (argc > 1)
        return err_set(err, ERR_USAGE, "unexpected word '%s'; see --help",
                       argv[1]);
    if (parse_channel(w, err) != 0 || parse_log_words(w, err) != 0 ||
        parse_digits(w, err) != 0)
        return -1;
    if (w->resume && w->folder == NULL)
        return err_set(err, ERR_USAGE, "--resume: expected --dir DIR, too");
    w->unbegun = w->resume && log_was_left(w->folder);
    w->resume = w->resume && !w->unbegun;
    if (w->resume)
        return check_resume(w, err);
    if (w->skips.n > 0 && !w->unbegun)
        return err_set(err, ERR_USAGE, "--skip: only with --resume");
    if (w->config == NULL && w->tuner == NULL)
        w->tuner = EXPERIMENT_TUNER;
    if (w->nni && w->extensions)
        return err_set(err, ERR_USAGE,
                       "--nni: not with --extensions, which NNI's managers do "
                       "not speak");
    if (w->direction != NULL && !experiment_is_direction(w->direction))
        return err_set(err, ERR_USAGE,
                       "--direction: expected minimize or maximize, got '%s'",
                       w->direction);
    if (check_objectives(w, err) != 0)
        return -1;
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

/* A plugin's name or file; for a Python class, the program that runs it. */
static const char *
name_of(const struct algorithm *a)
{
    if (a->class_name != NULL)
        return "exec";
    return algorithm_plugin(a);
}

/* Takes tuner, assessor and objectives from the configuration, where the
 * command line names none. */
static void
take_algorithms(struct dispatch_words *w, const struct experiment *x)
{
    if (w->tuner == NULL) {
        w->tuner = name_of(&x->tuner);
        w->tuner_line = x->tuner.line;
        if (x->tuner.class_name != NULL)
            w->tuner_class = &x->tuner;
        if (w->tuner_args == NULL)
            w->tuner_args = x->tuner.args;
    }
    if (w->assessor == NULL && x->assessor.line != 0) {
        w->assessor = name_of(&x->assessor);
        w->assessor_line = x->assessor.line;
        if (x->assessor.class_name != NULL)
            w->assessor_class = &x->assessor;
        if (w->assessor_args == NULL)
            w->assessor_args = x->assessor.args;
        if (w->assessor_objective == NULL)
            w->assessor_objective = x->assessor.objective;
    }
    if (w->objectives == NULL && w->direction == NULL && !w->nni)
        w->objectives = x->objectives_json;
}

/* Takes what stands in the configuration and not on the command line; *out is
 * the configuration, to be freed, or stays as it is. */
static int
dispatch_words_config(struct dispatch_words *w, struct experiment **out,
                      struct err *err)
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
    take_algorithms(w, x);
    if (!w->has_seed && x->has_seed) {
        w->seed = x->seed;
        w->has_seed = true;
    }
    if (w->sync_text == NULL)
        w->sync = x->sync;
    if (w->segment_size == SIZE_MAX)
        w->segment_size = (size_t)x->segments.size;
    if (w->old_text == NULL)
        w->old = x->segments.old;
    if (w->early_stopped == NULL)
        w->early_stopped = early_stopped_name(x->early_stopped);
    return 0;
}

/* ---- the verb ---- */

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
    "  --objectives JSON       what results are judged by where that is more\n"
    "                          than one number, and limits on them:\n"
    "                          {\"objectives\": [{\"name\": \"accuracy\",\n"
    "                          \"direction\": \"maximize\"}, ...]}, see\n"
    "                          tunepipe-dispatch(1)\n"
    "  --assessor-objective NAME\n"
    "                          the one that the assessor judges; without it,\n"
    "                          what is made of all\n"
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
                         .reclaim = w->extensions,
                         .nni = w->nni,
                         .reissue = w->nni};
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

/* The arguments of the program `exec` that runs a Python class with these
 * arguments. */
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

/* DIR/checkpoint, whether it exists or not; NULL: there is no --dir. */
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
    /* the detected ones, not those in the log */
    if (w->digits == FRAME_DIGITS_DETECT)
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

/* The direction that a plugin's arguments name; NULL: none. */
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

/* Sets the direction.  Without a configuration none need be given, and
 * plugins are told none: a manager that starts us so knows what it gives its
 * plugins. */
static int
set_direction(const struct dispatch_words *w, const struct experiment *x,
              struct json *const args[2], struct policy *p, struct err *err)
{
    const char *word = w->direction;

    if (w->objectives != NULL)
        return 0; /* each has its own */
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

/* Reads what results are judged by, to be freed; NULL with err clear: nothing
 * is given. */
static struct json *
parse_objectives(const struct dispatch_words *w, struct err *err)
{
    struct json *doc;
    struct objectives *o = NULL;

    if (w->objectives == NULL)
        return NULL;
    doc = json_parse(w->objectives, strlen(w->objectives), JSON_UNIQUE, err);
    if (doc != NULL)
        o = objectives_from(json_root(doc), err);
    if (o == NULL) {
        json_free(doc);
        doc = NULL;
        err_place(err, "--objectives");
        if (err->code == ERR_INPUT)
            err->code = ERR_USAGE;
    }
    objectives_free(o);
    return doc;
}

/* Names and arguments of NNI's tuners as they are under NNI's managers, but for
 * a default of optimize_mode. */
static int
translate_tuner(const struct dispatch_words *w, struct json **args,
                const struct log *log, struct err *err)
{
    struct json *made;

    if (w->tuner == NULL || w->tuner_class != NULL)
        return 0;
    if (names_translate(w->tuner, json_root(*args), NULL, &made, err) != 0)
        return -1;
    if (names_note(w->tuner) != NULL)
        log_info(log, "%s", names_note(w->tuner));
    if (made != NULL) {
        json_free(*args);
        *args = made;
    }
    return 0;
}

static int
begin_session(struct dispatch_words *w, const struct experiment *x,
              struct session_setup *session, struct json *args[3],
              struct filters *filters, const struct log *log, struct err *err)
{
    if (w->unbegun)
        log_info(log,
                 "%s: the dispatcher before died before it had recorded "
                 "anything: a new session begins, with tuner %s",
                 w->folder, w->tuner);
    session->tuner = w->tuner;
    session->assessor = w->assessor;
    args[2] = parse_objectives(w, err);
    if (args[2] == NULL && w->objectives != NULL)
        return -1;
    if (args[2] != NULL)
        session->objectives = json_root(args[2]);
    if (set_policy(w, &session->policy, err) != 0 ||
        parse_both(w, args, err) != 0 ||
        translate_tuner(w, &args[0], log, err) != 0 ||
        set_direction(w, x, args, &session->policy, err) != 0 ||
        filters_read(filters, &w->filters, x, session, err) != 0 ||
        choose_seed(w, log, err) != 0)
        return -1;
    session->assessor_objective = w->assessor_objective;
    session->tuner_args = json_root(args[0]);
    session->assessor_args = json_root(args[1]);
    session->seed = w->seed;
    session->program_folder = x != NULL ? x->folder : NULL;
    session->file = w->config;
    session->tuner_line = w->tuner_line;
    session->assessor_line = w->assessor_line;
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
    struct json *args[3] = {NULL}; /* the tuner's, the assessor's; objectives */
    char *checkpoints = checkpoint_folder(w->folder);
    int rc = -1, status;

    setup.session.paths = paths;
    if (!w->resume) /* else the log has it */
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
    for (size_t i = 0; i < sizeof args / sizeof *args; i++)
        json_free(args[i]);
    return status;
}

/* Blocks from this size on go back when they are freed: those of snapshots,
 * which else stay. */
#define LARGE (1 << 20)

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
    mallopt(M_MMAP_THRESHOLD, LARGE);
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

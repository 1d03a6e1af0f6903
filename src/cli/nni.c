/* SPDX-License-Identifier: MIT */
#include "bridge/bridge.h"
#include "cli/exitguard.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "cli/module.h"
#include "config/yaml.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/log.h"
#include "core/problems.h"
#include "core/stop_signals.h"
#include "core/wake.h"
#include "dispatcher/dispatcher.h"
#include "dispatcher/session.h"
#include "frame.h"
#include "json.h"
#include "log/lock.h"
#include "log/log.h"
#include "nni/environment.h"
#include "nni/exp_params.h"
#include "nni/journal.h"
#include "nni/names.h"
#include "nni/old_words.h"
#include "nni/pyclass.h"
#include "plugin/paths.h"
#include "plugin/tuner.h"
#include "replay/resumption.h"
#include "supervisor/deaths.h"
#include "supervisor/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define NNI_CRASHES_MAX 2 /* one of the tuner's, one of the assessor's */

struct nni_crashes {
    char words[NNI_CRASHES_MAX][24]; /* "t:17", as for --skip */
    size_t n;
};

struct nni_child {
    struct nni_start *start;
    struct supervised dispatcher;
    int words;     /* read end of a pipe with the child's last message */
    int socket;    /* our socket to the child; -1: none */
    int signal_fd; /* the parent's signals */
    bool guarded;  /* a thread guards the child */
    pthread_t guard;
    struct wake over; /* ends the thread: nobody is left to pass signals to */
    bool known;       /* the child's end is known: */
    struct supervised_end end;
    char text[ERR_TEXT_MAX + 128];
};

#define NNI_GRACE_MS 10000

struct nni_start {
    const char *text; /* the value of --exp_params */
    struct nni_environment environment;
    struct journal journal;
    struct log log; /* to stderr and the journal */
    atomic_ulong lost;
    struct exp_params params;
    struct plugin_paths *paths;
    struct json *args[2]; /* of tuner and assessor, translated or made */
    struct resumption resumption;
    /* Commands that are handled with failing calls. */
    struct nni_crashes crashes;
    struct wake wanted; /* see dispatcher.h; where it is open */
    bool at_work; /* a plugin may still be running when the session is over: the
                     process is then ended by _exit() */
};

#define CRASH_NAME "command.crash"
#define CRASH_MAX 256 /* bytes of that file */

static int
nni_crashes_note(const char *folder, const struct lockfile *lock,
                 struct err *err)
{
    static const char sides[] = {
        [LOCKFILE_DEFAULT] = 't', [LOCKFILE_ASSESSOR] = 'a'};
    char *path = file_join(folder, CRASH_NAME);
    char text[CRASH_MAX] = "";
    int rc = 0;

    for (int i = 0; i < LOCKFILE_SLOTS; i++) {
        uint64_t at = lock->slots[i];
        size_t len = strlen(text);

        if (at > 0 && at < LOCKFILE_LOADING)
            snprintf(text + len, sizeof text - len, "%c:%" PRIu64 "\n",
                     sides[i], at);
    }
    if (path == NULL)
        rc = err_set(err, ERR_MEMORY, "%s: out of memory", folder);
    else if (text[0] != '\0')
        rc = file_write(path, text, strlen(text), err);
    free(path);
    return rc;
}

/* Reads the file of crashes; a missing one holds none. */
static void
nni_crashes_read(const char *folder, struct nni_crashes *out)
{
    char *path = file_join(folder, CRASH_NAME);
    const char *line;
    struct buf text;

    *out = (struct nni_crashes){.n = 0};
    buf_init(&text, (size_t)1 << 20);
    if (path != NULL && file_read(path, CRASH_MAX, &text, NULL) == 0)
        for (line = buf_text(&text); *line != '\0' && out->n < NNI_CRASHES_MAX;
             out->n++) {
            size_t len = strcspn(line, "\n");

            snprintf(out->words[out->n], sizeof out->words[0], "%.*s", (int)len,
                     line);
            line += len + (line[len] == '\n');
        }
    buf_fini(&text);
    free(path);
}

static void
nni_crashes_forget(const char *folder)
{
    char *path = file_join(folder, CRASH_NAME);

    if (path != NULL)
        unlink(path);
    free(path);
}

/* ---- algorithms that NNI knows by a registered name ----
 *
 * The Python classes that the user has given names by `nnictl algo register`:
 * NNI's registered_algorithms.yml. */

#define FILE_NAME "registered_algorithms.yml"

/* FOLDER/PLACE/registered_algorithms.yml, to be freed; NULL: there is none. */
static char *
find_in(const char *folder, const char *place)
{
    char *path = NULL;

    if (asprintf(&path, "%s%s/" FILE_NAME, folder, place) < 0)
        return NULL;
    if (access(path, R_OK) == 0)
        return path;
    free(path);
    return NULL;
}

/* Looks for the file where NNI does: in a folder that the environment names,
 * the interpreter's environment (PREFIX/bin/python3), the user's. */
static char *
find_file(void)
{
    const char *told = getenv("NNI_CONFIG_DIR"), *home = getenv("HOME");
    char *python, *slash, *path = NULL;

    if (told != NULL)
        return find_in(told, "");
    python = pyclass_interpreter(NULL);
    slash = python != NULL ? strrchr(python, '/') : NULL;
    if (slash != NULL) {
        *slash = '\0';
        path = find_in(python, "/../nni");
    }
    free(python);
    if (path == NULL && home != NULL)
        path = find_in(home, "/.config/nni");
    return path;
}

static const char *
text_of(const struct yaml_node *map, const char *key)
{
    const struct yaml_node *node =
        map->kind == YAML_MAP ? yaml_get(map, key) : NULL;

    return node != NULL && node->kind == YAML_SCALAR ? node->text : NULL;
}

/* The class under that name in the list, to be freed; NULL: there is none. */
static char *
find_class(const struct yaml_node *root, const char *kind, const char *name)
{
    char section[32];
    const struct yaml_node *list;

    snprintf(section, sizeof section, "%ss", kind);
    list = root->kind == YAML_MAP ? yaml_get(root, section) : NULL;
    if (list == NULL || list->kind != YAML_SEQUENCE)
        return NULL;
    for (const struct yaml_node *c = list->children; c != NULL; c = c->next) {
        const char *builtin = text_of(c, "builtinName");
        const char *found = text_of(c, "className");

        if (builtin != NULL && found != NULL && strcasecmp(builtin, name) == 0)
            return strdup(found);
    }
    return NULL;
}

static struct yaml_node *
read_tree(const char *path, const struct log *log)
{
    struct yaml_node *root = NULL;
    struct problems problems;
    struct err err = {0};
    struct buf text;

    buf_init(&text, YAML_TEXT_MAX);
    problems_init(&problems);
    if (file_read(path, YAML_TEXT_MAX, &text, &err) == 0) {
        root = yaml_parse(buf_text(&text), text.len, path, &problems);
        if (root == NULL)
            problems_check(&problems, &err);
    }
    if (root == NULL)
        log_warning(log, "names given by nnictl are not known: %s", err.text);
    problems_fini(&problems);
    buf_fini(&text);
    return root;
}

/* "module.Class", to be freed; NULL: there is no such file, or no such name in
 * it (case does not count), or the file makes no sense, of which the log has a
 * line.  `kind` is "tuner" or "assessor". */
static char *
nni_registered_class(const char *kind, const char *name, const struct log *log)
{
    char *path = find_file(), *found = NULL;
    struct yaml_node *root;

    if (path == NULL)
        return NULL;
    root = read_tree(path, log);
    if (root != NULL)
        found = find_class(root, kind, name);
    yaml_node_free(root);
    free(path);
    return found;
}

/* ---- the session as a child ----
 *
 * The process that NNI's manager started outlives the one that runs the
 * dispatcher, whatever becomes of that: a plugin that crashes is named, and the
 * command that it was at is noted for the experiment to go on behind it.
 *
 * A pipe holds the child's last words.  No descriptor of the dispatcher's tells
 * of its end: a process that a plugin forked may keep copies of them all.  So a
 * thread waits for the process itself, and passes its end on to those who read
 * the socket by shutting down the parent's end of that.  The same thread passes
 * signals on to the child. */

#define PARTING_MS 2000 /* for which the manager may be told of a stop */
#define AWAIT_MS 2000   /* less than a manager waits for a pong */
#define LINGER_MS 15000 /* more than the dispatcher's grace */

/* ---- the end ---- */

static void
end_it(const struct nni_child *c)
{
    if (supervisor_ends_within(&c->dispatcher, LINGER_MS))
        return;
    log_error(&c->start->log,
              "the dispatcher did not end within %d s: it is killed",
              LINGER_MS / 1000);
    supervisor_signal(&c->dispatcher, SIGKILL);
}

static void
pass_end(const struct nni_child *c)
{
    if (c->socket >= 0)
        shutdown(c->socket, SHUT_RD); /* what was sent can still be read */
}

/* Passes a signal on to the child.  The manager, which may not close the
 * connection at the child's end, is told of the stop first, for a while, or
 * until one more signal comes; then this process ends, unless that is over in
 * order meanwhile: a user who wants it to stop is not kept waiting for the
 * manager. */
static void
pass_signal(const struct nni_child *c, int number)
{
    struct pollfd more[] = {{c->signal_fd, POLLIN, 0}, {c->over.fd, POLLIN, 0}};
    struct supervised_end end;

    supervisor_signal(&c->dispatcher, number);
    end_it(c);
    supervisor_end(&c->dispatcher, &end);
    pass_end(c);
    while (poll(more, 2, PARTING_MS) < 0 && errno == EINTR)
        continue;
    if (more[1].revents == 0)
        _exit(128 + number);
}

static void *
guard(void *arg)
{
    struct nni_child *c = arg;
    struct pollfd fds[] = {{c->dispatcher.pidfd, POLLIN, 0},
                           {c->signal_fd, POLLIN, 0},
                           {c->over.fd, POLLIN, 0}};
    struct signalfd_siginfo info;

    for (;;) {
        if (poll(fds, 3, -1) < 0)
            continue; /* EINTR */
        if (fds[2].revents != 0)
            return NULL;
        if (fds[0].revents != 0) {
            pass_end(c);
            fds[0].fd = -1;
        }
        if (fds[1].revents != 0 &&
            read(c->signal_fd, &info, sizeof info) == sizeof info) {
            pass_signal(c, (int)info.ssi_signo);
            return NULL;
        }
    }
}

static int
begin_child(struct nni_child *c, struct err *err)
{
    int rc = pthread_create(&c->guard, NULL, guard, c);

    c->guarded = rc == 0;
    errno = rc;
    return rc == 0 ? 0 : err_errno(err, ERR_SYSTEM, "cannot start a thread");
}

/* Ends the thread behind the child's end: it looks at *c and must not outlive
 * it. */
static void
end_guard(struct nni_child *c)
{
    if (!c->guarded)
        return;
    wake_signal(&c->over);
    pthread_join(c->guard, NULL);
    wake_close(&c->over);
    close(c->signal_fd);
    c->guarded = false;
}

/* ---- last words ---- */

static const char *
signal_name(int number, char *out, size_t size)
{
    static const struct {
        int number;
        const char *name;
    } names[] = {{SIGSEGV, "SIGSEGV"}, {SIGABRT, "SIGABRT"},
                 {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
                 {SIGILL, "SIGILL"},   {SIGKILL, "SIGKILL"}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].number == number)
            return names[i].name;
    snprintf(out, size, "signal %d", number);
    return out;
}

static const char *
algorithm_name(const struct nni_algorithm *a)
{
    return a->name != NULL ? a->name : a->class_name;
}

/* Appends at which commands the workers were when the child ended, as far as
 * that is known. */
static void
add_work(const struct nni_child *c, const struct lockfile *lock, char *text,
         size_t size)
{
    static const char *const sides[] = {
        [LOCKFILE_DEFAULT] = "tuner", [LOCKFILE_ASSESSOR] = "assessor"};
    const struct exp_params *p = &c->start->params;
    const char *names[] = {algorithm_name(&p->tuner),
                           algorithm_name(&p->assessor)};
    char work[40];

    for (int i = 0; i < LOCKFILE_SLOTS; i++) {
        uint64_t at = lock->slots[i];
        size_t len = strlen(text);

        if (at != 0 && names[i] != NULL)
            snprintf(text + len, size - len, "; the %s %.64s was %s", sides[i],
                     names[i], supervisor_work(at, work, sizeof work));
    }
}

/* Reads what the child left in the lock file beside its log. */
static bool
read_lock(const struct nni_child *c, struct lockfile *out)
{
    const char *folder = c->start->environment.checkpoint;

    return folder != NULL && lockfile_read(folder, out) &&
           supervisor_is_writer(&c->dispatcher, out);
}

static void
tell_crash(struct nni_child *c)
{
    const struct nni_start *n = c->start;
    int number = c->end.signal;
    struct lockfile lock;
    struct err err;
    char name[32];

    snprintf(c->text, sizeof c->text, "the dispatcher was ended by %s",
             signal_name(number, name, sizeof name));
    if (read_lock(c, &lock)) {
        if (exp_params_read(n->text, &c->start->params, NULL) == 0)
            add_work(c, &lock, c->text, sizeof c->text);
        if (deaths_is_fault(number) &&
            nni_crashes_note(n->environment.checkpoint, &lock, &err) != 0)
            log_warning(&n->log, "%s", err.text);
    }
    journal_say(&n->journal, LOG_ERROR, NULL, "%s", c->text);
    fprintf(stderr, "tunepipe nni: error: %s\n", c->text);
}

static void
read_words(struct nni_child *c)
{
    size_t len = 0;
    ssize_t n;

    while (len < sizeof c->text - 1 &&
           ((n = read(c->words, c->text + len, sizeof c->text - 1 - len)) > 0 ||
            (n < 0 && errno == EINTR)))
        len += n > 0 ? (size_t)n : 0;
    c->text[len] = '\0';
}

static void
learn(struct nni_child *c)
{
    if (c->known)
        return;
    c->known = true;
    supervisor_end(&c->dispatcher, &c->end);
    if (c->end.signal == 0)
        read_words(c);
    else
        tell_crash(c);
}

/* Waits two seconds for the child's end; a crash is told on stderr and in
 * dispatcher.log.  Returns why it ended; NULL: in order.  `c` is a struct
 * nni_child, see bridge.h. */
static const char *
nni_child_await(void *arg)
{
    struct nni_child *c = arg;

    if (supervisor_ends_within(&c->dispatcher, AWAIT_MS))
        learn(c);
    else
        snprintf(c->text, sizeof c->text,
                 "the dispatcher says no more, but its process has not ended");
    return c->text[0] != '\0' ? c->text : NULL;
}

/* ---- the two processes ---- */

/* Forks the child.  Where the manager's shell keeps descriptors open, nothing
 * but its parent's end would end a dispatcher. */
static int
nni_child_fork(struct nni_child *c, struct nni_start *n, struct err *err)
{
    int words[2], rc;
    sigset_t set;

    *c = (struct nni_child){.start = n, .socket = -1};
    if (pipe2(words, O_CLOEXEC) != 0)
        return err_errno(err, ERR_SYSTEM, "cannot set up descriptors");
    stop_signals(&set);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    rc = supervisor_fork(&c->dispatcher, err);
    c->words = words[rc == 0];
    close(words[rc != 0]);
    if (rc < 0)
        close(c->words);
    return rc;
}

/* In the parent: SIGTERM, SIGINT and SIGHUP are passed to the child from now
 * on, and end the parent when the child has ended.  `socket`, borrowed (-1:
 * none), is at its end of file when the child has ended, whoever else has its
 * other end. */
static int
nni_child_guard(struct nni_child *c, int socket, struct err *err)
{
    if (socket >= 0)
        c->socket = fcntl(socket, F_DUPFD_CLOEXEC, 0);
    if ((socket >= 0 && c->socket < 0) ||
        fcntl(c->words, F_SETFL, O_NONBLOCK) != 0)
        return err_errno(err, ERR_SYSTEM, "cannot set up descriptors");
    c->signal_fd = stop_signals_open(err);
    if (c->signal_fd < 0 || wake_open(&c->over, err) != 0)
        return -1;
    return begin_child(c, err);
}

/* In the child, at its end: gives err to the parent where status is not
 * EXIT_DONE. */
static void
nni_child_leave(struct nni_child *c, int status, const struct err *err)
{
    if (status != EXIT_DONE)
        (void)file_write_all(c->words, err->text, strlen(err->text), NULL);
    close(c->words);
}

/* Ends a child that has nothing to do any more: the socket says so, and if that
 * does not end it, a signal does. */
static void
nni_child_dismiss(struct nni_child *c)
{
    if (c->socket >= 0)
        shutdown(c->socket, SHUT_RDWR);
    end_it(c);
}

/* Waits for the child's end; whether it failed, and was not stopped. */
static bool
nni_child_failed(struct nni_child *c)
{
    static const int in_order[] = {EXIT_DONE, EXIT_GRACE, 128 + SIGTERM,
                                   128 + SIGINT, 128 + SIGHUP};

    learn(c);
    for (size_t i = 0; i < sizeof in_order / sizeof *in_order; i++)
        if (c->end.status == in_order[i])
            return false;
    return true;
}

/* Waits for the child's end, and ends the thread that guards it.  Returns the
 * exit status of the parent: the child's, if that failed, else `status`. */
static int
nni_child_status(struct nni_child *c, int status)
{
    learn(c);
    end_guard(c);
    supervisor_close(&c->dispatcher);
    if (c->end.signal != 0)
        return 128 + c->end.signal;
    return c->end.status != EXIT_DONE ? c->end.status : status;
}

/* ---- what NNI starts it with ----
 *
 * From what an NNI manager says (argument and environment) to a dispatcher that
 * runs: `tunepipe nni` without its process and its channel. */

#define SEED_BITS 31 /* of a seed, as NNI draws it */

static const char *
get_variable(const char *name)
{
    return getenv(name);
}

/* Reads the environment and opens dispatcher.log: where that fails, a warning
 * says so.  *n must stay where it is. */
static void
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

static void
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

/* The name of a built-in algorithm, which NNI before 1.9 gives as className,
 * too. */
static const char *
plugin_named(const struct nni_algorithm *a, enum plugin_kind kind)
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
    const char *builtin = plugin_named(a, kind);
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
               (kind == PLUGIN_TUNER &&
                names_translate(builtin, a->args, names_mode(kind, builtin),
                                made, err) != 0)) {
        return -1;
    } else if (kind == PLUGIN_TUNER && names_note(builtin) != NULL) {
        log_info(&n->log, "%s", names_note(builtin));
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

/* Draws a seed, for where classArgs has none. */
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
        .reissue = true};
    s->checkpoint_folder = n->environment.checkpoint;
    if (choose_both(n, s, err) != 0)
        return -1;
    return draw_seed(&s->seed, err);
}

/* Tells that a resumed experiment goes on as it began, although its
 * configuration has been changed. */
static void
compare_tuner(struct nni_start *n)
{
    const struct session *session = n->resumption.resume.session;
    const char *told = plugin_named(&n->params.tuner, PLUGIN_TUNER), *plugin;

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

/* Goes on with a recorded session; the log's head has tuner, assessor and
 * seed. */
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

/* Moves away the log that a new experiment finds in its folder: it is an
 * earlier experiment's. */
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
begin_session(struct nni_start *n, struct dispatcher_setup *setup,
              struct err *err)
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

/* Writes the lines into the journal that users look for. */
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

/* Runs a session on these descriptors, taken, to its end.  Returns the exit
 * status; where that is not EXIT_DONE err has the reason in one line, which is
 * told on stderr and in the journal by then. */
static int
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

    if (begin_session(n, &setup, err) != 0) {
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

/* ---- the verb ---- */

#define ARGUMENT "--exp_params"
#define IN_FD 3 /* the descriptors that NNI's managers up to 2.7 open */
#define OUT_FD 4

static const char help[] =
    "usage: tunepipe -m nni --exp_params BASE64\n"
    "       tunepipe nni --exp_params BASE64\n"
    "\n"
    "Serves the experiment manager of NNI, which starts it, in the place of\n"
    "NNI's own dispatcher (python3 -m nni).  The configuration is taken from\n"
    "the argument and from the variables NNI_* of the environment; words that\n"
    "are not known are ignored.  NNI.md has what is as in NNI and what is\n"
    "not; scripts/nni-shim/README.md says how to put it there.\n"
    "\n"
    "  --exp_params BASE64     the experiment's configuration: JSON in base64\n"
    "\n"
    "NNI's first versions have words instead: tuner_class_name NAME, tuner_args\n"
    "JSON, tuner_directory DIR, tuner_class_filename FILE, the same for assessor\n"
    "and advisor, multi_thread; each behind two dashes.\n"
    "\n"
    "Commands come on descriptor 3, answers go to 4 (NNI 1.0 to 2.7), unless\n"
    "NNI_TUNER_COMMAND_CHANNEL has the URL of a WebSocket (NNI 2.8 to 3.0).\n"
    "The command log is kept in NNI_CHECKPOINT_DIRECTORY, dispatcher.log in\n"
    "NNI_LOG_DIRECTORY.\n"
    "\n"
    "Example: tunepipe -m nni --exp_params "
    "eyJ0dW5lciI6eyJuYW1lIjoiVFBFIn19\n"
    "\n"
    "Exit status: 0 end of file or Terminate; 1 failed; 2 usage; 3 tuner,\n"
    "assessor, arguments or search space wrong; 4 the byte stream is broken, or\n"
    "the manager reads no more; 5 the log cannot be written; 6 a plugin was still\n"
    "computing when the grace ended; 143, 130, 129 stopped by SIGTERM, SIGINT,\n"
    "SIGHUP.\n";

/* Finds --exp_params.  Unlike other verbs' options, unknown ones are passed
 * over. */
static const char *
find_params(int argc, char **argv)
{
    const size_t len = sizeof ARGUMENT - 1;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], ARGUMENT) == 0)
            return i + 1 < argc ? argv[i + 1] : NULL;
        if (strncmp(argv[i], ARGUMENT "=", len + 1) == 0)
            return argv[i] + len + 1;
    }
    return NULL;
}

static int
dispatch_on(struct nni_start *n, int in_fd, int out_fd, struct err *err)
{
    bool *expected = exitguard_set();
    int status = nni_start_run(n, in_fd, out_fd, err);

    exitguard_lift(expected);
    return status;
}

/* ---- NNI 1.0 to 2.7: descriptors ---- */

static int
check_descriptors(struct err *err)
{
    for (int fd = IN_FD; fd <= OUT_FD; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            return err_set(
                err, ERR_USAGE,
                "descriptor %d is not open: NNI's manager opens 3 and 4 for "
                "its dispatcher (from 2.8 on it sets "
                "NNI_TUNER_COMMAND_CHANNEL instead)",
                fd);
    return 0;
}

/* Leaves something unread at the end.  A manager up to 2.7 takes an orderly end
 * of file for nothing at all, and stays RUNNING for ever; but it reports an
 * error when the socket is reset, as it is when closed with unread bytes.  It
 * writes IN as soon as it has started us, and a ping every five seconds. */
static void
leave_unread(void)
{
    struct pollfd in = {.fd = IN_FD, .events = POLLIN};
    struct stat st;

    if (fstat(IN_FD, &st) == 0 && S_ISSOCK(st.st_mode))
        (void)poll(&in, 1, NNI_GRACE_MS);
}

/* Waits for the child, without the descriptor of the answers: the manager has
 * to see there that the child is gone. */
static int
await(struct nni_child *child, struct err *err)
{
    close(OUT_FD);
    if (nni_child_guard(child, -1, err) != 0) {
        int status = verb_fail("nni", err);

        leave_unread();
        return status;
    }
    if (nni_child_failed(child))
        leave_unread();
    return nni_child_status(child, EXIT_DONE);
}

static int
serve_descriptors(struct nni_start *n, struct err *err)
{
    struct nni_child child;
    int status;

    if (check_descriptors(err) == 0) {
        switch (nni_child_fork(&child, n, err)) {
        case 0:
            status = dispatch_on(n, IN_FD, OUT_FD, err);
            nni_child_leave(&child, status, err);
            return status;
        case 1:
            return await(&child, err);
        }
    }
    journal_say(&n->journal, LOG_ERROR, NULL, "%s", err->text);
    status = verb_fail("nni", err);
    leave_unread();
    return status;
}

/* ---- NNI 2.8 to 3.0: a WebSocket ----
 *
 * The child runs the dispatcher, the parent keeps the connection, whatever
 * becomes of the child, and tells the manager how it ended.  Between them is a
 * socket pair for frames, whose end of file tells either side that the other is
 * gone; and something by which the child says that another dispatcher wants its
 * log. */

static int
keep_connection(struct nni_child *c, int frames, struct err *err)
{
    const struct bridge_setup setup = {
        .url = c->start->environment.channel,
        .frames = frames,
        .epitaph = nni_child_await,
        .arg = c,
        .wanted = &c->start->wanted,
        .log = &c->start->log,
    };
    int status = EXIT_DONE;

    if (nni_child_guard(c, frames, err) != 0)
        close(frames);
    else if (websocket_serve(&setup, err) == 0)
        err_clear(err);
    if (err->code != ERR_NONE) {
        journal_say(&c->start->journal, LOG_ERROR, NULL, "%s", err->text);
        status = verb_fail("nni", err);
    }
    nni_child_dismiss(c);
    return nni_child_status(c, status);
}

static int
serve_websocket(struct nni_start *n, struct err *err)
{
    struct nni_child child;
    int pair[2], status;

    if (wake_open(&n->wanted, err) != 0)
        return verb_fail("nni", err);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        err_errno(err, ERR_SYSTEM, "cannot set up descriptors");
        wake_close(&n->wanted);
        return verb_fail("nni", err);
    }
    switch (nni_child_fork(&child, n, err)) {
    case 0:
        close(pair[0]);
        status = dispatch_on(n, pair[1], pair[1], err);
        nni_child_leave(&child, status, err);
        return status;
    case 1:
        close(pair[1]);
        return keep_connection(&child, pair[0], err);
    }
    close(pair[0]);
    close(pair[1]);
    wake_close(&n->wanted);
    return verb_fail("nni", err);
}

static int
serve(struct nni_start *n, struct err *err)
{
    return n->environment.channel != NULL ? serve_websocket(n, err)
                                          : serve_descriptors(n, err);
}

static int
run(int argc, char **argv)
{
    const char *params = find_params(argc, argv);
    char *converted = NULL;
    struct nni_start n;
    struct err err;
    int status;

    err_clear(&err);
    if (params == NULL && old_words_are_there(argc, argv)) {
        params = converted = old_words_convert(argc, argv, &err);
        if (converted == NULL) {
            status = verb_fail("nni", &err);
            leave_unread();
            return status;
        }
    }
    if (params == NULL) {
        err_set(&err, ERR_USAGE,
                ARGUMENT ": missing, expected the configuration as JSON in "
                         "base64");
        return verb_fail("nni", &err);
    }
    nni_start_begin(&n, params);
    status = serve(&n, &err);
    if (n.at_work)
        _exit(status);
    nni_start_end(&n);
    free(converted);
    return status;
}

static const struct option options[] = {
    {"exp_params", OPTION_TEXT, 0, "BASE64"},
};

const struct verb verb_nni = {
    .name = "nni",
    .summary = "serve NNI's experiment manager in its dispatcher's place",
    .help = help,
    .run = run,
    .options = options,
    .n_options = sizeof options / sizeof *options,
};

/* SPDX-License-Identifier: MIT */
/* DESIGN.  Whoever begins a server holds a lock on the folder itself meanwhile,
 * so that of many one does, and the others find it.  The server's words go into
 * a pipe until it can be asked: when that ends without a server, they tell why.
 * From then on they go into a file of the study. */
#include "cli/serve.h"

#include "cli/checked.h"
#include "cli/kept.h"
#include "cli/target.h"
#include "cli/verb.h"
#include "config/experiment.h"
#include "control/client.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/hold.h"
#include "core/own.h"
#include "core/problems.h"
#include "core/process.h"
#include "history/folder.h"
#include "json.h"
#include "manager/budget.h"
#include "manager/manager.h"
#include "manager/results.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SERVER_LOG "server.log"
#define WORDS_MAX 65536
#define ENDING_TIMES 1000 /* of 10 ms */
#define TRIES 5
#define TRY_AGAIN (-1) /* in place of a status */
#define NO_STUDY                                                          \
    "%s: there is no study yet, and nothing to begin one with (expected " \
    "--config, in Python Study(SPACE, folder=...))"

struct serving {
    const char *verb;
    char *folder; /* absolute */
    int lock_fd;  /* of the folder; -1 */
    struct hold hold;
    bool made; /* the folder, by us */
    bool foreground;
    int patience; /* with another one's end, or its beginning: times to look */
    const char *config;
    struct experiment *x; /* as the configuration says; NULL: none was given */
};

/* The absolute path of a folder of which all but the last part exists, to be
 * freed; NULL: it does not. */
static char *
absolute(const char *folder, struct err *err)
{
    char *there = realpath(folder, NULL), *copy, *slash, *parent, *path = NULL;
    size_t len = strlen(folder);

    if (there != NULL || errno != ENOENT || len == 0) {
        if (there == NULL)
            err_errno(err, ERR_CONFIG, "%s: cannot open", folder);
        return there;
    }
    copy = strdup(folder);
    if (copy == NULL)
        return NULL;
    while (len > 1 && copy[len - 1] == '/')
        copy[--len] = '\0';
    slash = strrchr(copy, '/');
    if (slash != NULL)
        *slash = '\0';
    parent = realpath(slash == NULL ? "." : slash == copy ? "/" : copy, NULL);
    if (parent == NULL)
        err_errno(err, ERR_CONFIG, "%s: cannot open", copy);
    else if ((path = file_join(parent, slash != NULL ? slash + 1 : copy)) ==
             NULL)
        err_set(err, ERR_MEMORY, "out of memory");
    free(parent);
    free(copy);
    return path;
}

static int
lock_folder(struct serving *s, struct err *err)
{
    s->made = s->x != NULL && mkdir(s->folder, 0700) == 0;
    if (s->x != NULL && !s->made && errno != EEXIST)
        return err_errno(err, ERR_CONFIG, "%s: cannot make the folder",
                         s->folder);
    s->lock_fd = open(s->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->lock_fd < 0 && errno == ENOENT)
        return err_set(err, ERR_CONFIG, NO_STUDY, s->folder);
    if (s->lock_fd < 0)
        return err_errno(err, ERR_CONFIG, "%s: cannot open", s->folder);
    if (own_check(s->folder, 0, err) != 0)
        return -1;
    return s->foreground
               ? 0
               : hold_wait(&s->hold, s->lock_fd, s->folder, LOCK_EX, err);
}

static bool
is_empty(const char *folder)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    bool empty = dir != NULL;

    while (dir != NULL && empty && (entry = readdir(dir)) != NULL)
        empty =
            strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    if (dir != NULL)
        closedir(dir);
    return empty;
}

/* ---- a study that is there ---- */

static bool
is_other_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a != b : strcmp(a, b) != 0;
}

static bool
is_other_algorithm(const struct algorithm *a, const struct algorithm *b)
{
    return is_other_text(a->name, b->name) ||
           is_other_text(a->plugin, b->plugin) ||
           is_other_text(a->class_name, b->class_name) ||
           is_other_text(a->args, b->args);
}

static bool
has_other_filters(const struct experiment *a, const struct experiment *b)
{
    bool other = a->n_filters != b->n_filters;

    for (size_t i = 0; !other && i < a->n_filters; i++)
        other = is_other_algorithm(&a->filters[i], &b->filters[i]);
    return other;
}

/* What decides which trials come is as it was. */
static int
compare(const struct serving *s, const struct experiment *kept, struct err *err)
{
    const struct experiment *x = s->x;
    const struct {
        const char *key;
        bool other;
    } keys[] = {
        {"searchSpace", is_other_text(x->search_space, kept->search_space)},
        {"objectives, resultConstraints, scalarize",
         is_other_text(x->objectives_json, kept->objectives_json)},
        {"direction", x->minimize != kept->minimize},
        {"tuner", is_other_algorithm(&x->tuner, &kept->tuner)},
        {"assessor", is_other_algorithm(&x->assessor, &kept->assessor)},
        {"filters, constraints", has_other_filters(x, kept)},
        {"seed", x->has_seed && x->seed != kept->seed},
    };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i].other)
            return err_set(err, ERR_CONFIG,
                           "%s: is a study with another %s: expected the same "
                           "as in its " FOLDER_CONFIG ", or another folder",
                           s->folder, keys[i].key);
    return 0;
}

static int
check_kept(const struct serving *s, const struct results *r,
           const struct experiment *kept, struct err *err)
{
    if (kept->platform != PLATFORM_client)
        return err_set(err, ERR_CONFIG,
                       "%s: is no study: its manager runs its trials, by "
                       "trialCommand",
                       s->folder);
    if (s->x != NULL && compare(s, kept, err) != 0)
        return -1;
    return kept_check_own(r, err) != 0 || kept_check_plugins(kept, err) != 0
               ? -1
               : 0;
}

/* What lives takes the limit that the configuration names. */
static int
raise_limit(const struct serving *s, struct err *err)
{
    struct json *answer = NULL;
    struct jval object;
    struct json_writer w;
    struct buf request;
    int rc;

    if (s->x == NULL || s->x->max_trials == 0)
        return 0;
    buf_init(&request, 256);
    w = json_begin_object(&request);
    json_add_text(&w, "command", "update");
    json_add_unsigned(&w, "max_trials", s->x->max_trials);
    json_close(&w);
    rc = control_ask(s->folder, buf_text(&request), &answer, &object, err);
    json_free(answer);
    buf_fini(&request);
    return rc;
}

/* One that has just been killed may still be connected to, and does not answer;
 * one that is stopped (SIGSTOP), or refuses who comes, lives. */
static bool
lives(const char *folder)
{
    struct json *answer = NULL;
    struct control_client c;
    struct err err = {0};
    struct jval object;
    bool there = control_client_open(&c, folder, NULL) == 0;

    if (!there)
        return false;
    there =
        control_client_ask(&c, REQUEST_NOTHING, &answer, &object, &err) == 0 ||
        err.number == ETIMEDOUT || err.code == ERR_INPUT;
    json_free(answer);
    control_client_close(&c);
    return there;
}

/* One that is about to end, or about to begin, holds its lock and does not
 * answer.  Whether one does in the end. */
static bool
await_other(struct serving *s)
{
    const struct timespec pause = {.tv_nsec = 10 * 1000000};
    char *path = file_join(s->folder, FOLDER_EXPERIMENT);
    int fd = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    bool there = lives(s->folder);

    for (; fd >= 0 && !there && s->patience > 0; s->patience--) {
        if (!hold_is_others(fd, HOLD_FLOCK))
            break;
        nanosleep(&pause, NULL);
        there = lives(s->folder);
    }
    if (fd >= 0)
        close(fd);
    free(path);
    return there;
}

/* ---- the daemon ---- */

/* It can be asked: whoever began it, and reads its words until they end, need
 * not hear more.  Where no file can have them they are lost. */
static void
ready(void *ctx)
{
    const struct serving *s = ctx;
    char *path;
    int fd = -1;

    if (isatty(STDERR_FILENO))
        return;
    path = file_join(s->folder, SERVER_LOG);
    if (path != NULL)
        fd = file_open_plain(path, O_WRONLY | O_APPEND | O_CREAT);
    if (fd < 0)
        fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        dup2(fd, STDOUT_FILENO);
        dup2(fd, STDERR_FILENO);
        close(fd);
    }
    free(path);
}

/* Serves, in this process. */
static int
conduct_study(struct serving *s, const struct experiment *x, bool resumes)
{
    struct manager_options options = {
        .out_fd = STDOUT_FILENO,
        .err_fd = STDERR_FILENO,
        .resume = resumes ? s->folder : NULL,
        .into = s->folder,
        .ready = ready,
        .ready_ctx = s,
    };
    struct manager_outcome out;
    struct err err = {0};
    int rc = manager_run(x, &options, &out, &err);

    free(out.folder);
    if (rc != 0)
        return verb_fail(s->verb, &err);
    return out.ok || out.end == MANAGER_INTERRUPTED ? EXIT_DONE
           : out.end == MANAGER_CONFIG              ? EXIT_CONFIG
                                                    : EXIT_FAILED;
}

/* Passes on those of a server's lines that have `mark`; *at is where the first
 * one begins, and becomes the end of the last.  Returns how many it were. */
static size_t
pass_on(const struct buf *words, size_t *at, const char *mark)
{
    const char *line, *end;
    size_t n = 0, len;

    for (; *at < words->len; *at += len) {
        line = words->data + *at;
        end = memchr(line, '\n', words->len - *at);
        if (end == NULL)
            break;
        len = (size_t)(end - line) + 1;
        if (memmem(line, len, mark, strlen(mark)) == NULL)
            continue;
        fwrite(line, 1, len, stderr);
        n++;
    }
    return n;
}

/* Reads what the server says until it can be asked, or has ended; its warnings
 * are passed on as they come, as it may wait for what they tell. */
static void
read_words(int fd, struct buf *words)
{
    char part[4096];
    size_t at = 0;
    ssize_t n;

    while ((n = read(fd, part, sizeof part)) != 0) {
        if (n > 0 && words->len < WORDS_MAX)
            buf_add(words, part, (size_t)n);
        else if (n < 0 && errno != EINTR)
            break;
        pass_on(words, &at, "warning: ");
    }
}

/* It goes on when this process has ended, and is nobody's child then.  A server
 * that ends without an error was killed or stopped: TRY_AGAIN. */
static int
start_daemon(const struct serving *s)
{
    char *folder = file_program_folder();
    char *program = folder == NULL ? NULL : file_join(folder, "tunepipe");
    const char *argv[] = {program,    "study",   s->folder, "--foreground",
                          "--config", s->config, NULL};
    int fds[2] = {-1, -1}, pidfd = -1, status = EXIT_DONE;
    struct process_spawn how = {.argv = argv, .session = true};
    struct err err = {0};
    struct buf words;
    size_t at = 0;
    siginfo_t end;

    if (s->config == NULL)
        argv[4] = NULL;
    free(folder);
    if (program != NULL && pipe2(fds, O_CLOEXEC) == 0) {
        how.files[0] = PROCESS_NULL;
        how.files[1] = how.files[2] = fds[1];
        process_spawn(&how, &pidfd, NULL);
    }
    if (pidfd < 0)
        err_errno(&err, ERR_SYSTEM, "cannot start a server");
    free(program);
    if (fds[1] >= 0)
        close(fds[1]);
    if (pidfd < 0) {
        if (fds[0] >= 0)
            close(fds[0]);
        return verb_fail(s->verb, &err);
    }
    buf_init(&words, WORDS_MAX + 4096);
    read_words(fds[0], &words);
    close(fds[0]);
    if (lives(s->folder)) {
        close(pidfd);
    } else {
        end = process_reap(&pidfd);
        status = end.si_code == CLD_EXITED && end.si_status != EXIT_DONE
                     ? end.si_status
                     : EXIT_FAILED;
        if (pass_on(&words, &at, "error: ") == 0)
            status = TRY_AGAIN;
    }
    buf_fini(&words);
    return status;
}

static int
start(struct serving *s, const struct experiment *x, bool resumes)
{
    return s->foreground ? conduct_study(s, x, resumes) : start_daemon(s);
}

/* ---- one that goes on, or is new ---- */

/* Its limit is the greater of what it had and what the configuration says. */
static void
set_limit(const struct serving *s, struct experiment *kept)
{
    struct budget b = {.max_trials = kept->max_trials,
                       .max_ms = kept->max_experiment_ms};

    budget_load(&b, s->folder);
    kept->max_trials =
        s->x != NULL && s->x->max_trials > 0 ? s->x->max_trials : b.max_trials;
    kept->max_experiment_ms = b.max_ms;
}

static int
go_on(struct experiment *kept, void *ctx)
{
    struct serving *s = ctx;
    struct results *r;
    struct err err = {0};
    bool there = await_other(s);
    int rc;

    r = results_load(s->folder, RESULTS_NONE, &err);
    rc = r == NULL ? -1 : check_kept(s, r, kept, &err);
    results_free(r);
    if (rc == 0 && there)
        rc = raise_limit(s, &err);
    if (rc != 0)
        return verb_fail(s->verb, &err);
    if (there)
        return EXIT_DONE;
    set_limit(s, kept);
    return start(s, kept, true);
}

static int
serve_locked(struct serving *s)
{
    struct err err = {0};
    struct results *r;
    int status;

    if (!file_has(s->folder, FOLDER_EXPERIMENT)) {
        if (s->x != NULL && is_empty(s->folder))
            return start(s, s->x, false);
        err_set(&err, ERR_CONFIG,
                is_empty(s->folder) ? NO_STUDY
                                    : "%s: is no study, and not empty: "
                                      "expected a study, or a new folder",
                s->folder);
        return verb_fail(s->verb, &err);
    }
    r = results_load(s->folder, RESULTS_NONE, &err);
    if (r == NULL)
        return verb_fail(s->verb, &err);
    status = kept_with(s->verb, r, go_on, s);
    results_free(r);
    return status;
}

static int
refuse_command(struct serving *s)
{
    struct err err = {0};

    err_set(&err, ERR_CONFIG,
            "%s: trialCommand: a study has none, as whoever asks for a trial "
            "runs it: tunepipe run takes this file",
            s->config);
    return verb_fail(s->verb, &err);
}

static int
read_config(struct serving *s)
{
    struct problems problems;
    struct err err = {0};
    int status = EXIT_DONE;

    problems_init(&problems);
    s->x = checked_read(s->config, &(struct checked){.use = EXPERIMENT_STUDY},
                        &problems, &err);
    if (s->x == NULL || problems_check(&problems, &err) != 0)
        status = checked_refuse(s->verb, &err, &problems);
    else if (s->x->platform != PLATFORM_client)
        status = refuse_command(s);
    problems_fini(&problems);
    return status;
}

/* Whoever kills a server, or stops it, does not mean the one that is just being
 * started in its place. */
static int
try_to_serve(struct serving *s)
{
    struct err err = {0};
    int status = TRY_AGAIN;

    for (int i = 0; i < TRIES && status == TRY_AGAIN; i++)
        status = serve_locked(s);
    if (status != TRY_AGAIN)
        return status;
    err_set(&err, ERR_SYSTEM,
            "%s: %d servers were started, and each was ended before it could "
            "be asked",
            s->folder, TRIES);
    return verb_fail(s->verb, &err);
}

int
serve(const char *verb, const char *folder, const char *config, bool foreground)
{
    struct serving s = {.verb = verb,
                        .lock_fd = -1,
                        .foreground = foreground,
                        .patience = ENDING_TIMES,
                        .config = config};
    struct err err = {0};
    int status = EXIT_DONE;

    if (config != NULL)
        status = read_config(&s);
    if (status == EXIT_DONE) {
        s.folder = absolute(folder, &err);
        status = s.folder == NULL || lock_folder(&s, &err) != 0
                     ? verb_fail(verb, &err)
                     : try_to_serve(&s);
    }
    if (status != EXIT_DONE && s.made)
        rmdir(s.folder);
    hold_drop(&s.hold);
    if (s.lock_fd >= 0)
        close(s.lock_fd);
    experiment_free(s.x);
    free(s.folder);
    return status;
}

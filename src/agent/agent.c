/* SPDX-License-Identifier: MIT */
/* DESIGN.  One poll(2) over the socket, the channel of the manager that came
 * last, the runner of this machine, an inotify and a signalfd.
 *
 * A trial's reports lie in the folder that the manager sees, too: it is told
 * that there are more, and not again before it has heard that.  Where the file
 * system is another machine's they are written through before.  What it answers
 * goes into the trial's FIFO, which is open while a manager is there, or may
 * come again soon: without one nobody waits.
 *
 * Where the two share no folder the experiment's stands for one of this
 * machine's, below the agent's own: what a trial is given is put there before
 * it begins, and what it leaves is sent back, its outputs, reports and
 * checkpoints while it runs, everything behind its end.
 *
 * A trial is known by its token, a text of the manager's which no two attempts
 * share.  It stays until the manager forgets it. */
#include "agent/agent.h"

#include "agent/ferry.h"
#include "agent/socket.h"
#include "agent/wire.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
#include "core/filesystem.h"
#include "core/folder.h"
#include "core/grow.h"
#include "core/list.h"
#include "core/map.h"
#include "core/number.h"
#include "core/passing.h"
#include "core/process.h"
#include "runner/runner.h"
#include "trial/checkpoint.h"
#include "trial/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXIT_TEXT_MAX 4096
#define WORDS_MAX 65536
#define TICK_MS 500
#define DOUBT_MS 2000
#define GOODBYE_MS 5000    /* for what is said at the end */
#define CHECKPOINTS_MAX 64 /* of a trial, sent in one go */
#define LIVE_MS 2000       /* so late a manager elsewhere sees outputs */

/* What of a trial elsewhere is sent while it runs: what only grows.  Reports
 * come last, behind what they may tell of. */
#define LIVE                                                            \
    TRIAL_WRAPPER_PID, TRIAL_PREPARE "/" TRIAL_WRAPPER_PID,             \
        TRIAL_PREPARE "/" TRIAL_STDOUT, TRIAL_PREPARE "/" TRIAL_STDERR, \
        TRIAL_STDOUT, TRIAL_STDERR, TRIAL_ABSENT, TRIAL_SAVED_FROM,     \
        TRIAL_METRICS, TRIAL_NNI_METRICS
static const char *const live[] = {LIVE};
#define N_LIVE (sizeof live / sizeof *live)
#define N_REPORTS 2

struct piece {
    struct link link;
    char *token, *folder, *home;
    char *devices; /* that it was given; NULL: nothing was said of them */
    bool prepares;
    struct run *run; /* NULL: it has ended */
    const char *how; /* NULL: it is not over */
    char *text;      /* behind that, or to be */
    int fifo;        /* of answers; -1: not open */
    int watch;       /* of its reports, or of its folder until there are some */
    bool watches_file, grown, forgotten, stopped;
    off_t had[N_LIVE]; /* that was sent of each */
    uint64_t saved;    /* the newest checkpoint that was; and that it had */
    uint64_t given;    /* when it began */
    int64_t doubt_ns;  /* a signal ended it, which may be one to all of a job:
                          until then that is not told; 0: it is no doubt */
};

struct agent {
    const struct agent_setup *setup;
    struct runner *runner;
    struct list pieces;
    struct map tokens, watches;
    char *home;         /* of its own, on this machine */
    char *root;         /* the experiment's here; NULL: it is shared */
    char *bundle;       /* then: where AGENT_OURS is */
    struct ferry ferry; /* to the manager */
    struct ferry_taken taken;
    int64_t lived_ns;              /* when outputs were looked at last */
    char lacking[256], lacks[256]; /* a token whose files could not be written,
                                      and why; "": none */
    int listen_fd, inotify_fd, signal_fd;
    struct wire wire;
    int64_t heard_ns, pinged_ns;
    bool ending;       /* no trial is begun any more, */
    bool told;         /* by a signal, */
    int64_t ending_ns; /* since when */
    bool far;          /* trials' folders are on another machine's disk */
};

/* ---- where things are ---- */

/* One of the manager's paths as it is on this machine, appended. */
static void
add_moved(const struct agent *a, const char *path, size_t len, struct buf *out)
{
    const struct agent_setup *s = a->setup;
    const struct {
        const char *there, *here, *below;
    } roots[] = {{s->experiment, a->root, ""},
                 {s->programs, a->bundle, "/" AGENT_PROGRAMS},
                 {s->python, a->bundle, "/" AGENT_PYTHON},
                 {s->code, a->bundle, ""}};

    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        size_t n = roots[i].there != NULL ? strlen(roots[i].there) : 0;

        if (n == 0 || n > len || strncmp(path, roots[i].there, n) != 0 ||
            (n < len && path[n] != '/'))
            continue;
        buf_printf(out, "%s%s", roots[i].here, roots[i].below);
        buf_add(out, path + n, len - n);
        return;
    }
    buf_add(out, path, len);
}

/* A text that may be a path, or a list of them between colons; to be freed.
 * NULL: out of memory. */
static char *
moved(const struct agent *a, const char *text)
{
    struct buf out;
    char *all;
    size_t len;

    if (a->root == NULL)
        return strdup(text);
    buf_init(&out, (size_t)4 << 20);
    for (;; text += len + 1) {
        len = strcspn(text, ":");
        add_moved(a, text, len, &out);
        if (text[len] == '\0')
            break;
        buf_add_char(&out, ':');
    }
    all = buf_take(&out);
    buf_fini(&out);
    return all;
}

/* ---- what it has ---- */

/* Removes a folder of the trial's, to be freed, unless another phase or attempt
 * that is here has the same. */
static void
remove_folder(const struct agent *a, const struct piece *p,
              char *(*find)(const char *token))
{
    char *folder = find(p->token);
    char *path = folder != NULL ? file_join(a->root, folder) : NULL;
    bool wanted = path == NULL;

    for (struct link *at = a->pieces.first; at != NULL; at = at->next) {
        char *other = find(((struct piece *)at->of)->token);

        wanted |= other == NULL || strcmp(other, folder) == 0;
        free(other);
    }
    if (!wanted)
        folder_remove(path);
    free(path);
    free(folder);
}

/* Removes a trial's folders, once it is out of the list. */
static void
remove_files(const struct agent *a, const struct piece *p)
{
    remove_folder(a, p, ferry_trial);
    remove_folder(a, p, ferry_checkpoints);
}

static void
piece_free(struct agent *a, struct piece *p)
{
    list_remove(&p->link);
    map_remove(&a->tokens, p->token, strlen(p->token));
    if (p->watch >= 0) {
        map_remove(&a->watches, &p->watch, sizeof p->watch);
        inotify_rm_watch(a->inotify_fd, p->watch);
    }
    if (p->fifo >= 0)
        close(p->fifo);
    if (a->root != NULL)
        remove_files(a, p);
    free(p->token);
    free(p->folder);
    free(p->home);
    free(p->devices);
    free(p->text);
    free(p);
}

static struct piece *
piece_new(struct agent *a, const char *token, const char *folder, bool prepares)
{
    struct piece *p = calloc(1, sizeof *p);
    const struct runner_phase phase = {folder, prepares};

    if (p == NULL)
        return NULL;
    p->fifo = p->watch = -1;
    p->token = strdup(token);
    p->folder = strdup(folder);
    p->home = runner_phase_folder(&phase);
    p->prepares = prepares;
    if (p->token == NULL || p->folder == NULL || p->home == NULL ||
        map_put(&a->tokens, token, strlen(token), p) != 0) {
        free(p->token);
        free(p->folder);
        free(p->home);
        free(p);
        return NULL;
    }
    list_add(&a->pieces, NULL, &p->link, p);
    return p;
}

/* What is left out of all that a trial leaves: what its manager has given it,
 * how it ended, which is told last, and what is live. */
static const char *const not_sent[] = {TRIAL_PARAMETERS_JSON,
                                       TRIAL_PARAMETERS_TSV,
                                       TRIAL_NNI_PARAMETERS,
                                       TRIAL_ANSWERS,
                                       TRIAL_ANSWERED,
                                       TRIAL_ORIGIN,
                                       TRIAL_RESOURCES,
                                       TRIAL_STOP,
                                       TRIAL_AGAIN,
                                       TRIAL_EXIT,
                                       TRIAL_PREPARE "/" TRIAL_EXIT,
                                       LIVE,
                                       NULL};

/* The texts begin with a trial's token, where they are of one. */
#define say_behind(a, ...) \
    say_words_behind(a, (const char *const[]){__VA_ARGS__, NULL})

static void
say_words_behind(struct agent *a, const char *const words[])
{
    struct buf texts;

    if (a->root == NULL) {
        wire_say_words(&a->wire, words);
        return;
    }
    buf_init(&texts, (size_t)1 << 20);
    for (size_t i = 1; words[i] != NULL; i++)
        texts_add(&texts, words[i]);
    ferry_say(&a->ferry, words[0], &texts);
    buf_fini(&texts);
}

/* The path of a trial's file within the experiment's folder; to be freed. */
static char *
within(const struct agent *a, const struct piece *p, const char *name)
{
    return file_join(p->folder + strlen(a->root) + 1, name);
}

/* Sends what is new of a live file; whether there was something. */
static bool
send_live(struct agent *a, struct piece *p, size_t i, off_t size)
{
    char *path = size != p->had[i] ? within(a, p, live[i]) : NULL;

    if (path == NULL)
        return false;
    ferry_file(&a->ferry, a->root, p->token, path, NULL,
               size > p->had[i] ? p->had[i] : 0, size);
    p->had[i] = size;
    free(path);
    return true;
}

static off_t
size_of(const struct piece *p, const char *name)
{
    char *path = file_join(p->folder, name);
    struct stat st = {0};

    if (path == NULL || lstat(path, &st) != 0 || !S_ISREG(st.st_mode))
        st.st_size = 0;
    free(path);
    return st.st_size;
}

/* The least number of a checkpoint above that one; 0: there is none. */
static uint64_t
next_checkpoint(const char *folder, uint64_t above)
{
    DIR *all = opendir(folder);
    struct dirent *entry;
    uint64_t next = 0, number;

    while (all != NULL && (entry = readdir(all)) != NULL)
        if (number_parse_u64(entry->d_name, strlen(entry->d_name), &number) &&
            number > above && (next == 0 || number < next))
            next = number;
    if (all != NULL)
        closedir(all);
    return next;
}

static void
send_checkpoint(struct agent *a, const struct piece *p, const char *home,
                uint64_t number)
{
    char from[300], to[300];

    snprintf(to, sizeof to, "%.250s/%llu", home, (unsigned long long)number);
    snprintf(from, sizeof from, "%.250s/" TRIAL_CHECKPOINT_GIVEN "%llu", home,
             (unsigned long long)number);
    if (ferry_tree(&a->ferry, a->root, p->token, to, from, NULL))
        ferry_rename(&a->ferry, p->token, from, to);
}

/* Sends what the trial has saved since, a checkpoint whole or not at all.
 * `arrived`: all that was sent has been written, so that of those before the
 * last one nobody will want any. */
static void
send_checkpoints(struct agent *a, struct piece *p, bool arrived)
{
    char *home = ferry_checkpoints(p->token);
    char *folder = home != NULL ? file_join(a->root, home) : NULL;
    uint64_t n;
    char path[4400];

    for (int i = 0; folder != NULL && arrived && p->saved > p->given &&
                    i < CHECKPOINTS_MAX &&
                    (n = next_checkpoint(folder, 0)) != 0 && n < p->saved;
         i++)
        if (snprintf(path, sizeof path, "%s/%llu", folder,
                     (unsigned long long)n) < (int)sizeof path)
            folder_remove(path);
    for (int i = 0; folder != NULL && i < CHECKPOINTS_MAX &&
                    (n = next_checkpoint(folder, p->saved)) != 0;
         i++) {
        send_checkpoint(a, p, home, n);
        p->saved = n;
    }
    free(home);
    free(folder);
}

static void
send_new(struct agent *a, struct piece *p, bool idle)
{
    off_t sizes[N_LIVE];
    bool grown = false;

    for (size_t i = 0; i < N_LIVE; i++)
        sizes[i] = size_of(p, live[i]);
    for (size_t i = 0; i < N_LIVE - N_REPORTS; i++)
        grown |= send_live(a, p, i, sizes[i]);
    send_checkpoints(a, p, idle);
    for (size_t i = N_LIVE - N_REPORTS; i < N_LIVE; i++)
        grown |= send_live(a, p, i, sizes[i]);
    if (grown)
        say_behind(a, AGENT_GROWN, p->token);
}

/* Sends all that the trial has left; how it ended appears at once. */
static void
send_rest(struct agent *a, struct piece *p)
{
    char *tree = ferry_trial(p->token), *from, *as;

    if (tree != NULL)
        ferry_tree(&a->ferry, a->root, p->token, tree, NULL, not_sent);
    send_new(a, p, false);
    from = file_join(p->home + strlen(a->root) + 1, TRIAL_EXIT);
    as = file_join(p->home + strlen(a->root) + 1, TRIAL_WRAPPER_PID);
    if (from != NULL && as != NULL && file_has(p->home, TRIAL_EXIT)) {
        ferry_file(&a->ferry, a->root, p->token, from, as, 0, -1);
        ferry_rename(&a->ferry, p->token, as, from);
    }
    free(tree);
    free(from);
    free(as);
}

static void
tell_over(struct agent *a, struct piece *p)
{
    if (a->root != NULL)
        send_rest(a, p);
    say_behind(a, AGENT_OVER, p->token, p->how, p->text);
}

/* Takes the text. */
static void
is_over(struct agent *a, struct piece *p, const char *how, char *text)
{
    p->run = NULL;
    p->doubt_ns = 0;
    p->how = how;
    p->text = text != NULL ? text : strdup("");
    if (p->text == NULL || p->forgotten)
        piece_free(a, p);
    else
        tell_over(a, p);
}

/* ---- its reports ---- */

static void
watch(struct agent *a, struct piece *p)
{
    char *path = file_join(p->folder, TRIAL_METRICS);
    int was = p->watch, file = -1;

    if (path != NULL)
        file = inotify_add_watch(a->inotify_fd, path, IN_MODIFY);
    free(path);
    p->watches_file = file >= 0;
    p->watch = file >= 0 ? file
                         : inotify_add_watch(a->inotify_fd, p->folder,
                                             IN_CREATE | IN_MOVED_TO);
    p->grown |= file >= 0;
    if (was >= 0 && was != p->watch) {
        map_remove(&a->watches, &was, sizeof was);
        inotify_rm_watch(a->inotify_fd, was);
    }
    if (p->watch >= 0 &&
        map_put(&a->watches, &p->watch, sizeof p->watch, p) != 0)
        p->watch = -1;
}

/* What the kernel of this machine holds, the manager does not see. */
static void
write_through(const struct piece *p)
{
    char *path = file_join(p->folder, TRIAL_METRICS);
    int fd = path != NULL ? file_open_plain(path, O_RDONLY) : -1;

    if (fd >= 0) {
        fdatasync(fd);
        close(fd);
    }
    free(path);
}

static void
tell_grown(struct agent *a)
{
    int64_t now = clock_monotonic_ns();
    bool late = now >= a->lived_ns + LIVE_MS * INT64_C(1000000);

    if (!wire_is_open(&a->wire) || wire_is_full(&a->wire) ||
        !ferry_is_empty(&a->ferry))
        return;
    for (struct link *at = a->pieces.first; at != NULL; at = at->next) {
        struct piece *p = at->of;

        if (p->how != NULL || !(p->grown || (a->root != NULL && late)))
            continue;
        p->grown = false;
        if (a->root != NULL) {
            send_new(a, p, ferry_is_empty(&a->ferry));
            continue;
        }
        if (a->far)
            write_through(p);
        wire_say(&a->wire, AGENT_GROWN, p->token);
    }
    if (late)
        a->lived_ns = now;
}

static void
on_growth(struct agent *a)
{
    char events[65536]
        __attribute__((aligned(__alignof__(struct inotify_event))));
    ssize_t n = read(a->inotify_fd, events, sizeof events);

    for (char *at = events; n > 0 && at < events + n;) {
        const struct inotify_event *e = (const struct inotify_event *)at;
        struct piece *p = map_get(&a->watches, &e->wd, sizeof e->wd);

        at += sizeof *e + e->len;
        if (e->mask & IN_Q_OVERFLOW)
            for (struct link *l = a->pieces.first; l != NULL; l = l->next)
                ((struct piece *)l->of)->grown = true;
        if (p != NULL && !p->watches_file)
            watch(a, p);
        else if (p != NULL)
            p->grown = true;
    }
}

/* ---- its answers ---- */

static void
open_answers(struct piece *p)
{
    char *path = file_join(p->folder, TRIAL_ANSWERS);
    struct stat st;

    if (p->fifo < 0 && path != NULL)
        p->fifo = open(path, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (p->fifo >= 0 && (fstat(p->fifo, &st) != 0 || !S_ISFIFO(st.st_mode))) {
        close(p->fifo);
        p->fifo = -1;
    }
    free(path);
}

static void
close_answers(struct piece *p)
{
    if (p->fifo >= 0)
        close(p->fifo);
    p->fifo = -1;
}

/* What is in a full FIFO nobody waits for any more. */
static void
answer(struct piece *p, const char *text)
{
    char stale[4096];

    open_answers(p);
    if (p->fifo < 0 || write(p->fifo, text, strlen(text)) >= 0)
        return;
    while (read(p->fifo, stale, sizeof stale) > 0)
        continue;
    if (write(p->fifo, text, strlen(text)) < 0)
        close_answers(p);
}

/* ---- started ---- */

/* What makes a trial's environment of ours: =NAME=VALUE, +NAME=BEFORE, to stand
 * before what we have, -NAME. */
struct changes {
    char **ours;        /* that are set, to be freed; ends with NULL, as does */
    const char **unset; /* the names that are not to be there, borrowed */
    size_t n, cap, n_unset, cap_unset;
};

static void
changes_fini(struct changes *c)
{
    while (c->n > 0)
        free(c->ours[--c->n]);
    free(c->ours);
    free(c->unset);
}

static int
note_change(const struct agent *a, struct changes *c, const char *how)
{
    size_t len = strcspn(how + 1, "=");
    char *name = strndup(how + 1, len), *var = NULL, *value = NULL;
    const char *have = name != NULL ? getenv(name) : NULL;
    int rc = 0;

    if (name == NULL || GROW(c->ours, c->n + 1, c->cap) != 0 ||
        GROW(c->unset, c->n_unset + 1, c->cap_unset) != 0)
        rc = -1;
    else if (*how == '-')
        c->unset[c->n_unset++] = how + 1;
    else if ((value = moved(a, how + 1 + len + (how[1 + len] == '='))) ==
                 NULL ||
             asprintf(&var, "%s=%s%s", name, value,
                      *how == '+' && have != NULL ? have : "") < 0)
        rc = -1;
    else
        c->ours[c->n++] = var;
    if (rc == 0) {
        c->ours[c->n] = NULL;
        c->unset[c->n_unset] = NULL;
    }
    free(name);
    free(value);
    return rc;
}

static void
free_words(char **words)
{
    for (size_t i = 0; words != NULL && words[i] != NULL; i++)
        free(words[i]);
    free(words);
}

/* Up to `n` texts, that many words. */
static char **
take_words(const struct agent *a, struct said *s, unsigned long long n)
{
    char **words = n > 0 && n < WORDS_MAX ? calloc(n + 1, sizeof *words) : NULL;

    for (size_t i = 0; words != NULL && i < n; i++) {
        const char *word = said_text(s);

        words[i] = word != NULL ? moved(a, word) : NULL;
        if (words[i] == NULL) {
            free_words(words);
            return NULL;
        }
    }
    return words;
}

static void
note_devices(struct piece *p, const char *how)
{
    static const char set[] = "=" TRIAL_ENV_DEVICES "=";

    if (strncmp(how, set, sizeof set - 1) != 0)
        return;
    free(p->devices);
    p->devices = strdup(how + sizeof set - 1);
}

static int
start_piece(struct agent *a, struct piece *p, struct said *s, struct err *err)
{
    char *const none[] = {NULL};
    struct changes changes = {0};
    struct runner_task task = {.trial = (struct trial *)p,
                               .phase = {p->folder, p->prepares},
                               .cgroup = ""};
    const char *text = said_text(s);
    char **words, *cwd = text != NULL ? moved(a, text) : NULL;
    int rc = cwd != NULL ? 0 : -1;

    task.cwd = cwd;
    task.limit = said_number(s);
    words = take_words(a, s, said_number(s));
    while (rc == 0 && (text = said_text(s)) != NULL) {
        note_devices(p, text);
        rc = note_change(a, &changes, text);
    }
    if (rc == 0)
        task.env = process_environment(
            changes.ours != NULL ? changes.ours : none, changes.unset);
    if (words == NULL || task.env == NULL) {
        rc = err_set(err, ERR_MEMORY, "out of memory");
    } else {
        task.command = (const char *const *)words;
        if (!p->prepares)
            open_answers(p);
        p->run = a->runner->ops->start(a->runner, &task, err);
        rc = p->run != NULL ? 0 : -1;
    }
    if (rc == 0 && !p->prepares)
        watch(a, p);
    free_words(words);
    free(cwd);
    free((char **)task.env);
    changes_fini(&changes);
    return rc;
}

/* Which checkpoints are no news to the manager. */
static void
note_given(const struct agent *a, struct piece *p)
{
    char *home = a->root != NULL ? ferry_checkpoints(p->token) : NULL;
    char *folder = home != NULL ? file_join(a->root, home) : NULL;

    p->saved = p->given = folder != NULL ? checkpoint_newest(folder) : 0;
    free(folder);
    free(home);
}

/* Whether it lies where trials' folders do, where that is our own. */
static bool
is_ours(const struct agent *a, const char *folder)
{
    size_t len = a->root != NULL ? strlen(a->root) : 0;

    return a->root == NULL ||
           (strncmp(folder, a->root, len) == 0 && folder[len] == '/');
}

static void
begin(struct agent *a, struct said *s)
{
    const char *token = said_text(s);
    bool prepares = said_number(s) != 0;
    const char *there = said_text(s);
    char *folder = there != NULL ? moved(a, there) : NULL;
    struct err err = {0};
    struct piece *p = NULL;

    if (there == NULL ||
        (p = map_get(&a->tokens, token, strlen(token))) != NULL) {
        if (p != NULL && p->forgotten) /* it is, once that has ended */
            wire_say(&a->wire, AGENT_OVER, token, AGENT_LATER,
                     "an earlier one of it has not ended yet");
        free(folder);
        return;
    }
    if (!a->ending && folder != NULL && is_ours(a, folder))
        p = piece_new(a, token, folder, prepares);
    free(folder);
    if (p == NULL) { /* for another agent */
        wire_say(&a->wire, AGENT_OVER, token, AGENT_REFUSED, "");
        return;
    }
    if (strcmp(a->lacking, token) == 0) { /* or by this one, later */
        a->lacking[0] = '\0';
        is_over(a, p, AGENT_LATER, strdup(a->lacks));
        a->lacks[0] = '\0';
        return;
    }
    note_given(a, p);
    errno = 0;
    if (start_piece(a, p, s, &err) == 0) {
        if (a->runner->ops->watch(p->run) != 0)
            run_stop(p->run, RUN_GIVE_UP);
        return;
    }
    is_over(a, p, errno_passes(errno) ? AGENT_LATER : AGENT_UNSTARTED,
            strdup(err.text));
}

/* ---- ended ---- */

/* The exit file's text, as far as it tells how the trial ended. */
static char *
read_exit(const struct piece *p)
{
    char *path = file_join(p->home, TRIAL_EXIT), *text = NULL;
    int fd = path != NULL ? file_open_plain(path, O_RDONLY) : -1;
    ssize_t n;

    if (fd >= 0 && (text = calloc(1, EXIT_TEXT_MAX)) != NULL) {
        n = read(fd, text, EXIT_TEXT_MAX - 1);
        if (n <= 0)
            text[0] = '\0';
    }
    if (fd >= 0)
        close(fd);
    free(path);
    return text;
}

static void
take_ends(struct agent *a)
{
    struct run *run;

    while ((run = a->runner->ops->look(a->runner)) != NULL) {
        struct piece *p = (struct piece *)run->trial;
        struct run_end end;
        struct err err = {0};
        char *text = read_exit(p);

        run_end(&run, &end, &err);
        if (end.unbegun) {
            free(text);
            is_over(a, p, AGENT_LATER, strdup(end.outcome.text));
        } else if (!p->stopped &&
                   (end.outcome.told || outcome_by_signal(&end.outcome))) {
            p->run = NULL;
            p->text = text;
            p->doubt_ns = clock_monotonic_ns() + DOUBT_MS * INT64_C(1000000);
        } else {
            is_over(a, p, AGENT_ENDED, text);
        }
    }
}

/* Whether its end was that of all: it is told to end, too, by now. */
static void
settle_doubts(struct agent *a)
{
    int64_t now = clock_monotonic_ns();

    for (struct link *at = a->pieces.first, *next; at != NULL; at = next) {
        struct piece *p = at->of;
        char *text = p->text;

        next = at->next;
        if (p->doubt_ns == 0 || (!a->told && now < p->doubt_ns))
            continue;
        p->text = NULL;
        is_over(a, p, a->told ? AGENT_CUT : AGENT_ENDED, text);
    }
}

static void
end_all(struct agent *a, bool told)
{
    if (a->ending)
        return;
    a->ending = true;
    a->told = told;
    a->ending_ns = clock_monotonic_ns();
    wire_say(&a->wire, AGENT_LEAVE);
    for (struct link *at = a->pieces.first; at != NULL; at = at->next) {
        struct piece *p = at->of;

        if (!p->stopped) /* else it has its grace already */
            run_stop(p->run, RUN_TERMINATE);
    }
}

/* ---- a manager ---- */

/* What its trials may use of this machine, as Slurm has said: CPUs, bytes of
 * memory (0: not known), devices. */
static void
add_resources(struct buf *texts)
{
    const char *cpus = getenv("SLURM_CPUS_ON_NODE");
    const char *node = getenv("SLURM_MEM_PER_NODE");
    const char *cpu = getenv("SLURM_MEM_PER_CPU");
    const char *devices = getenv(TRIAL_ENV_DEVICES);
    unsigned long long n = cpus != NULL ? strtoull(cpus, NULL, 10) : 0;
    unsigned long long mib = node != NULL  ? strtoull(node, NULL, 10)
                             : cpu != NULL ? strtoull(cpu, NULL, 10) * n
                                           : 0;
    char number[32];
    cpu_set_t set;

    CPU_ZERO(&set);
    if (n == 0 && sched_getaffinity(0, sizeof set, &set) == 0)
        n = (unsigned long long)CPU_COUNT(&set);
    snprintf(number, sizeof number, "%llu", n);
    texts_add(texts, number);
    snprintf(number, sizeof number, "%llu", mib << 20);
    texts_add(texts, number);
    texts_add(texts, devices != NULL ? devices : "");
}

static void
hello(struct agent *a)
{
    struct buf texts;

    buf_init(&texts, (size_t)4 << 20);
    texts_add(&texts, TP_VERSION);
    add_resources(&texts);
    for (struct link *at = a->pieces.first; at != NULL; at = at->next) {
        const struct piece *p = at->of;

        texts_add(&texts, p->token);
        texts_add(&texts, p->devices != NULL ? p->devices : "");
    }
    wire_say_texts(&a->wire, AGENT_HELLO, &texts);
    buf_fini(&texts);
}

/* Whoever comes takes the place of who was there. */
static void
welcome(struct agent *a, int fd)
{
    wire_close(&a->wire);
    ferry_clear(&a->ferry);
    wire_open(&a->wire, fd, fd, false);
    buf_add_text(&a->wire.unsent, AGENT_MAGIC);
    a->heard_ns = a->pinged_ns = clock_monotonic_ns();
    hello(a);
    for (struct link *at = a->pieces.first; at != NULL; at = at->next) {
        struct piece *p = at->of;

        memset(p->had, 0, sizeof p->had); /* it may not have arrived */
        p->saved -= p->saved > p->given;
        if (p->how != NULL) {
            tell_over(a, p);
        } else if (!p->prepares) {
            open_answers(p);
            p->grown = true;
        }
    }
}

static void
stop_piece(struct piece *p, struct said *s)
{
    const char *how = said_text(s);

    if (how == NULL || (p->stopped && strcmp(how, AGENT_TERM_ONCE) == 0))
        return;
    p->stopped = true;
    run_stop(p->run,
             strcmp(how, AGENT_KILL) == 0 ? RUN_GIVE_UP : RUN_TERMINATE);
}

/* One that runs is to be ended: nobody wants what comes of it. */
static void
forget(struct agent *a, struct piece *p)
{
    p->forgotten = true;
    if (p->how != NULL)
        piece_free(a, p);
    else
        run_stop(p->run, RUN_TERMINATE);
}

/* What cannot be written now fails the trial's start, not before. */
static void
take_file(struct agent *a, const char *code, struct said *s, const char *token)
{
    struct err err = {0};

    if (map_get(&a->tokens, token, strlen(token)) == NULL &&
        ferry_take(&a->taken, code, s, a->root, token, &err) != 0 &&
        strcmp(a->lacking, token) != 0) {
        snprintf(a->lacks, sizeof a->lacks, "%.255s", err.text);
        snprintf(a->lacking, sizeof a->lacking, "%.255s", token);
    }
}

static void
hear(struct agent *a, struct said *s)
{
    struct said begin_again = *s;
    const char *token, *text;
    struct piece *p;

    if (strcmp(s->code, AGENT_START) == 0) {
        begin(a, s);
        return;
    }
    if (strcmp(s->code, AGENT_LEAVE) == 0)
        end_all(a, false);
    token = said_text(&begin_again);
    if (token != NULL && a->root != NULL &&
        (strcmp(s->code, AGENT_FILE) == 0 ||
         strcmp(s->code, AGENT_RENAMED) == 0)) {
        take_file(a, s->code, &begin_again, token);
        return;
    }
    p = token != NULL ? map_get(&a->tokens, token, strlen(token)) : NULL;
    if (p == NULL)
        return;
    if (strcmp(s->code, AGENT_STOP) == 0)
        stop_piece(p, &begin_again);
    else if (strcmp(s->code, AGENT_FORGET) == 0)
        forget(a, p);
    else if (strcmp(s->code, AGENT_ANSWER) == 0 &&
             (text = said_text(&begin_again)) != NULL)
        answer(p, text);
}

static void
listen_to(struct agent *a)
{
    struct err err = {0};
    struct said said;
    int rc = wire_read(&a->wire, &err);

    if (rc > 0)
        a->heard_ns = clock_monotonic_ns();
    rc = rc < 0 ? rc : 0;
    while (rc == 0 && (rc = wire_next(&a->wire, &said, &err)) > 0) {
        hear(a, &said);
        rc = 0;
    }
    if (rc < 0)
        wire_close(&a->wire);
}

/* ---- its time ---- */

static void
look_at_clock(struct agent *a)
{
    int64_t now = clock_monotonic_ns(), alone = a->setup->timeout_ms;

    if (wire_is_open(&a->wire) &&
        now >= a->heard_ns + AGENT_SILENT_MS(alone) * INT64_C(1000000))
        wire_close(&a->wire);
    if (wire_is_open(&a->wire) &&
        now >= a->pinged_ns + AGENT_PING_MS(alone) * INT64_C(1000000)) {
        wire_say(&a->wire, AGENT_PING);
        a->pinged_ns = now;
    }
    if (!wire_is_open(&a->wire) &&
        now >= a->heard_ns + AGENT_SILENT_MS(alone) * INT64_C(1000000))
        for (struct link *at = a->pieces.first; at != NULL; at = at->next)
            close_answers(at->of);
    if (now >= a->heard_ns + alone * 1000000)
        end_all(a, true);
}

static bool
runs_any(const struct agent *a)
{
    for (const struct link *at = a->pieces.first; at != NULL; at = at->next)
        if (((const struct piece *)at->of)->how == NULL)
            return true;
    return false;
}

/* Whether there is nothing to wait for: all have ended, and the manager knows,
 * or has had its time. */
static bool
is_done(const struct agent *a)
{
    return a->ending && !runs_any(a) &&
           ((a->pieces.first == NULL && !wire_is_full(&a->wire)) ||
            (!wire_is_open(&a->wire) && a->root == NULL) ||
            clock_monotonic_ns() >=
                a->ending_ns +
                    (a->setup->grace_ms + GOODBYE_MS) * INT64_C(1000000));
}

static void
on_signal(struct agent *a)
{
    struct signalfd_siginfo info;

    while (read(a->signal_fd, &info, sizeof info) == sizeof info)
        end_all(a, true);
}

static void
flush(struct agent *a)
{
    tell_grown(a);
    if (!ferry_is_empty(&a->ferry))
        a->ending_ns = a->ending ? clock_monotonic_ns() : 0;
    ferry_go_on(&a->ferry, &a->wire); /* nothing that begins a trial */
    if (wire_flush(&a->wire, NULL) != 0)
        wire_close(&a->wire);
}

static void
loop(struct agent *a)
{
    while (!is_done(a)) {
        struct pollfd fds[] = {
            {.fd = a->signal_fd, .events = POLLIN},
            {.fd = a->listen_fd, .events = POLLIN},
            {.fd = a->runner->fd, .events = POLLIN},
            {.fd = a->inotify_fd, .events = POLLIN},
            {.fd = a->wire.in, .events = POLLIN},
            {.fd = wire_is_full(&a->wire) || !ferry_is_empty(&a->ferry)
                       ? a->wire.out
                       : -1,
             .events = POLLOUT},
        };
        int fd;

        if (poll(fds, sizeof fds / sizeof *fds, TICK_MS) < 0 && errno != EINTR)
            break;
        if (fds[0].revents != 0)
            on_signal(a);
        if (fds[3].revents != 0)
            on_growth(a);
        if (fds[2].revents != 0)
            take_ends(a);
        if (fds[4].revents != 0)
            listen_to(a);
        if (fds[1].revents != 0 && (fd = socket_accept(a->listen_fd)) >= 0)
            welcome(a, fd);
        look_at_clock(a);
        settle_doubts(a);
        flush(a);
    }
}

/* ---- opened ---- */

static void
close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

static void
agent_close(struct agent *a)
{
    while (a->pieces.first != NULL)
        piece_free(a, a->pieces.first->of);
    wire_close(&a->wire);
    ferry_clear(&a->ferry);
    if (a->runner != NULL)
        a->runner->ops->close(a->runner);
    map_fini(&a->tokens);
    map_fini(&a->watches);
    close_fd(a->listen_fd);
    close_fd(a->inotify_fd);
    close_fd(a->signal_fd);
    if (a->home != NULL) {
        char *path = file_join(a->home, SOCKET_NAME);

        if (path != NULL)
            unlink(path);
        free(path);
        if (a->root != NULL)
            folder_remove(a->root);
        rmdir(a->home);
    }
    free(a->root);
    free(a->bundle);
    free(a->home);
}

/* The experiment's folder here, and the one that came with its programs. */
static int
make_root(struct agent *a, struct err *err)
{
    char *programs = file_program_folder();
    size_t len = programs != NULL ? strlen(programs) : 0;

    if (len <= strlen("/" AGENT_PROGRAMS) ||
        strcmp(programs + len - strlen("/" AGENT_PROGRAMS),
               "/" AGENT_PROGRAMS) != 0) {
        err_set(err, ERR_USAGE,
                "--experiment: expected this program in a folder "
                "'" AGENT_PROGRAMS "', got %s",
                programs != NULL ? programs : "-");
        free(programs);
        return -1;
    }
    a->bundle = strndup(programs, len - strlen("/" AGENT_PROGRAMS));
    a->root = file_join(a->home, "experiment");
    free(programs);
    return a->bundle == NULL || a->root == NULL
               ? err_set(err, ERR_MEMORY, "out of memory")
               : folder_make_roomy(a->root, err);
}

/* A folder of nobody else, on this machine's own disk. */
static int
make_home(struct agent *a, struct err *err)
{
    const char *tmp = getenv("TMPDIR");

    if (tmp == NULL || *tmp != '/' || access(tmp, W_OK | X_OK) != 0)
        tmp = "/tmp"; /* it may be the manager's, of another machine */
    if (asprintf(&a->home, "%s/tunepipe-agent.XXXXXX", tmp) < 0) {
        a->home = NULL;
        return err_set(err, ERR_MEMORY, "out of memory");
    }
    if (mkdtemp(a->home) != NULL)
        return a->setup->experiment != NULL ? make_root(a, err) : 0;
    err_errno(err, ERR_SYSTEM, "%s: cannot make the folder", a->home);
    free(a->home);
    a->home = NULL;
    return -1;
}

static int
open_runner(struct agent *a, struct err *err)
{
    char *programs = file_program_folder();
    const struct runner_setup setup = {.program_folder = programs,
                                       .grace_ms = a->setup->grace_ms,
                                       .synced = true,
                                       .max_output = a->setup->max_output};
    int rc = programs == NULL
                 ? err_set(err, ERR_SYSTEM,
                           "the folder of this program is not known")
                 : runner_kind(PLATFORM_local)->open(&a->runner, &setup, err);

    free(programs);
    return rc == 0 ? runner_settle(a->runner, a->home, err) : -1;
}

static int
tell_address(struct agent *a, struct err *err)
{
    const char *job = getenv("SLURM_JOB_ID"), *node = getenv("SLURMD_NODENAME");
    char host[256] = "-", *path, *text = NULL;
    int rc, len, fd;

    if (node == NULL && gethostname(host, sizeof host - 1) == 0)
        node = host;
    if (a->root != NULL)
        return printf(AGENT_SAYS_ADDRESS "%s %s %s/" SOCKET_NAME
                                         "\n%s/" AGENT_PROGRAMS "/tunepipe\n",
                      job != NULL ? job : "-", node != NULL ? node : host,
                      a->home, a->bundle) > 0 &&
                       fflush(stdout) == 0
                   ? 0
                   : err_errno(err, ERR_SYSTEM,
                               "standard output: cannot write");
    path = file_join(a->setup->folder, AGENT_ADDRESS);
    len = asprintf(&text, "%s %s %s/" SOCKET_NAME "\n", job != NULL ? job : "-",
                   node != NULL ? node : host, a->home);
    rc = path == NULL || len < 0 ? err_set(err, ERR_MEMORY, "out of memory")
                                 : file_write(path, text, (size_t)len, err);
    if (len >= 0)
        free(text);
    free(path);
    fd = open(a->setup->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    a->far = fd >= 0 && filesystem_is_far(fd);
    if (fd >= 0)
        close(fd);
    return rc;
}

static int
open_signals(struct agent *a, struct err *err)
{
    sigset_t set;

    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL);
    a->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    a->inotify_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (a->signal_fd < 0 || a->inotify_fd < 0)
        return err_errno(err, ERR_SYSTEM, "cannot watch over trials");
    return 0;
}

int
agent_run(const struct agent_setup *setup, struct err *err)
{
    struct agent a = {.setup = setup,
                      .listen_fd = -1,
                      .inotify_fd = -1,
                      .signal_fd = -1,
                      .wire = {.in = -1, .out = -1},
                      .heard_ns = clock_monotonic_ns()};
    int rc = open_signals(&a, err);

    if (rc == 0)
        rc = make_home(&a, err);
    if (rc == 0)
        rc = open_runner(&a, err);
    if (rc == 0 && (a.listen_fd = socket_listen(a.home, err)) < 0)
        rc = -1;
    if (rc == 0)
        rc = tell_address(&a, err);
    if (rc == 0)
        loop(&a);
    if (rc == 0 && a.root != NULL && a.pieces.first != NULL)
        rc = err_set(err, ERR_SYSTEM,
                     "no manager has taken what trials have left, such as %s",
                     ((struct piece *)a.pieces.first->of)->token);
    agent_close(&a);
    return rc;
}

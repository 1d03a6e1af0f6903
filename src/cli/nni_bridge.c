/* SPDX-License-Identifier: MIT */
#include "cli/nni_bridge.h"

#include "bridge/bridge.h"
#include "cli/nni_folder.h"
#include "cli/nni_start.h"
#include "cli/verb.h"
#include "cli/websocket.h"
#include "core/err.h"
#include "core/file.h"
#include "lockfile.h"
#include "manager/deaths.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* DESIGN
 *
 * Between the two: a socket pair for frames, whose end of file tells either
 * side that the other is gone, and a pipe on which the child leaves its last
 * words.  The child is waited for, but never reaped: its process id stays its
 * own as long as the parent lives, so that a signal cannot reach another. */

#define PARTING_S 2 /* for the manager to be told of a stop */

struct serving {
    struct nni_start *start;
    pid_t child;
    int words; /* the child's last ones */
    siginfo_t end;
    char text[ERR_TEXT_MAX + 128];
};

/* ---- signals ---- */

static void
wait_for(pid_t child, siginfo_t *end)
{
    do {
        *end = (siginfo_t){.si_pid = 0};
    } while (waitid(P_PID, (id_t)child, end, WEXITED | WNOWAIT) != 0 &&
             errno == EINTR);
}

static void
stop_signals(sigset_t *out)
{
    sigemptyset(out);
    sigaddset(out, SIGTERM);
    sigaddset(out, SIGINT);
}

/* The connection may stay after the child's end, for the manager to close it;
 * who wants the process to stop is not kept waiting for that. */
static void *
pass_signals(void *arg)
{
    const struct timespec parting = {.tv_sec = PARTING_S};
    pid_t child = (pid_t)(intptr_t)arg;
    siginfo_t end;
    sigset_t set;
    int number;

    stop_signals(&set);
    if (sigwait(&set, &number) != 0)
        return NULL;
    kill(child, number);
    wait_for(child, &end);
    (void)sigtimedwait(&set, NULL, &parting); /* or once more */
    _exit(128 + number);
}

static int
begin_passing(pid_t child, struct err *err)
{
    pthread_t thread;
    int rc =
        pthread_create(&thread, NULL, pass_signals, (void *)(intptr_t)child);

    if (rc == 0)
        rc = pthread_detach(thread);
    errno = rc;
    return rc == 0 ? 0 : err_errno(err, ERR_SYSTEM, "cannot start a thread");
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
name_of(const struct nni_algorithm *a)
{
    return a->name != NULL ? a->name : a->class_name;
}

/* Appends who was at work when it ended, as far as that is known. */
static void
add_work(const struct serving *s, const struct lockfile *lock, char *text,
         size_t size)
{
    static const char *const sides[] = {
        [LOCKFILE_DEFAULT] = "tuner", [LOCKFILE_ASSESSOR] = "assessor"};
    const struct exp_params *p = &s->start->params;
    const char *names[] = {name_of(&p->tuner), name_of(&p->assessor)};

    for (int i = 0; i < LOCKFILE_SLOTS; i++) {
        uint64_t at = lock->slots[i];
        size_t len = strlen(text);

        if (at == 0 || names[i] == NULL)
            continue;
        if (at == LOCKFILE_SAVING || at == LOCKFILE_LOADING)
            snprintf(text + len, size - len, "; the %s %.64s was being %s",
                     sides[i], names[i],
                     at == LOCKFILE_SAVING ? "saved" : "loaded");
        else
            snprintf(text + len, size - len,
                     "; the %s %.64s was at command %" PRIu64, sides[i],
                     names[i], at);
    }
}

/* What the child left in the lock file beside its log. */
static bool
read_lock(const struct serving *s, struct lockfile *out)
{
    const char *folder = s->start->environment.checkpoint;
    char *path = folder == NULL ? NULL : file_join(folder, LOCKFILE_NAME);
    int fd = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    bool whole = fd >= 0 &&
                 read(fd, out, sizeof *out) == (ssize_t)sizeof *out &&
                 memcmp(out->magic, LOCKFILE_MAGIC, sizeof out->magic) == 0 &&
                 out->pid == (uint64_t)s->child;

    if (fd >= 0)
        close(fd);
    free(path);
    return whole;
}

static void
tell_crash(struct serving *s)
{
    const struct nni_start *n = s->start;
    int number = s->end.si_status;
    struct lockfile lock;
    struct err err;
    char name[32];

    snprintf(s->text, sizeof s->text, "the dispatcher was ended by %s",
             signal_name(number, name, sizeof name));
    if (read_lock(s, &lock)) {
        if (exp_params_read(n->text, &s->start->params, NULL) == 0)
            add_work(s, &lock, s->text, sizeof s->text);
        if (deaths_is_fault(number) &&
            nni_folder_note_crash(n->environment.checkpoint, &lock, &err) != 0)
            log_warning(&n->log, "%s", err.text);
    }
    journal_say(&n->journal, LOG_ERROR, NULL, "%s", s->text);
    fprintf(stderr, "tunepipe nni: error: %s\n", s->text);
}

static void
read_words(struct serving *s)
{
    size_t len = 0;
    ssize_t n;

    while (len < sizeof s->text - 1 &&
           ((n = read(s->words, s->text + len, sizeof s->text - 1 - len)) > 0 ||
            (n < 0 && errno == EINTR)))
        len += n > 0 ? (size_t)n : 0;
    s->text[len] = '\0';
}

/* Waits for the end of the child; see bridge.h. */
static const char *
epitaph(void *arg)
{
    struct serving *s = arg;

    if (s->end.si_pid == 0) {
        wait_for(s->child, &s->end);
        if (s->end.si_code == CLD_EXITED)
            read_words(s);
        else
            tell_crash(s);
    }
    return s->text[0] != '\0' ? s->text : NULL;
}

/* ---- the two processes ---- */

static int
be_child(struct nni_start *n, int fd, int words,
         int (*dispatch)(struct nni_start *n, int fd, struct err *err),
         struct err *err)
{
    int status = dispatch(n, fd, err);

    if (status != EXIT_DONE)
        (void)file_write_all(words, err->text, strlen(err->text), NULL);
    close(words);
    return status;
}

static int
be_parent(struct serving *s, int frames, struct err *err)
{
    const struct bridge_setup setup = {
        .url = s->start->environment.channel,
        .frames = frames,
        .epitaph = epitaph,
        .arg = s,
        .log = &s->start->log,
    };
    int status = EXIT_DONE;

    if (begin_passing(s->child, err) != 0)
        close(frames);
    else if (websocket_serve(&setup, err) == 0)
        err_clear(err);
    if (err->code != ERR_NONE) {
        journal_say(&s->start->journal, LOG_ERROR, NULL, "%s", err->text);
        status = verb_fail("nni", err);
    }
    (void)epitaph(s);
    if (s->end.si_code != CLD_EXITED)
        return 128 + s->end.si_status;
    return s->end.si_status != EXIT_DONE ? s->end.si_status : status;
}

int
nni_bridge_serve(struct nni_start *n,
                 int (*dispatch)(struct nni_start *n, int fd, struct err *err),
                 struct err *err)
{
    struct serving s = {.start = n};
    int pair[2], words[2];
    sigset_t set;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0 ||
        pipe2(words, O_CLOEXEC) != 0) {
        err_errno(err, ERR_SYSTEM, "cannot set up descriptors");
        return verb_fail("nni", err);
    }
    stop_signals(&set);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    fflush(NULL);
    s.child = fork();
    if (s.child == 0) {
        close(pair[0]);
        close(words[0]);
        return be_child(n, pair[1], words[1], dispatch, err);
    }
    close(pair[1]);
    close(words[1]);
    s.words = words[0];
    if (s.child > 0)
        return be_parent(&s, pair[0], err);
    err_errno(err, ERR_SYSTEM, "cannot fork");
    return verb_fail("nni", err);
}

/* SPDX-License-Identifier: MIT */
#include "cli/nni_child.h"

#include "cli/nni_folder.h"
#include "cli/nni_start.h"
#include "cli/verb.h"
#include "core/clock.h"
#include "core/file.h"
#include "core/stop_signals.h"
#include "log/lock.h"
#include "manager/deaths.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* DESIGN
 *
 * A pipe holds the child's last words.  The child is waited for, but never
 * reaped: its process id stays its own as long as the parent lives, so that a
 * signal cannot reach another.
 *
 * No descriptor tells of its end: a process that a plugin forked may keep
 * copies of them all.  A thread waits for it, and passes it on by a pipe of the
 * parent's own, for those who wait no longer than so long, and by shutting down
 * the parent's end of the socket, for those who read that. */

#define PARTING_S 2     /* for the manager to be told of a stop */
#define AWAIT_MS 2000   /* less than what a manager waits for a pong */
#define LINGER_MS 15000 /* more than the dispatcher's grace */

/* ---- the end ---- */

static void
wait_for(pid_t child, siginfo_t *end)
{
    do {
        *end = (siginfo_t){.si_pid = 0};
    } while (waitid(P_PID, (id_t)child, end, WEXITED | WNOWAIT) != 0 &&
             errno == EINTR);
}

static void *
watch_end(void *arg)
{
    struct nni_child *c = arg;
    siginfo_t end;

    wait_for(c->pid, &end);
    close(c->gone[1]);
    if (c->socket >= 0)
        shutdown(c->socket, SHUT_RD); /* what was sent can be read still */
    return NULL;
}

static bool
ends_within(const struct nni_child *c, int ms)
{
    const int64_t until = clock_monotonic_ns() + ms * INT64_C(1000000);
    struct pollfd fd = {.fd = c->gone[0], .events = POLLIN};
    int64_t left;

    while ((left = until - clock_monotonic_ns()) > 0)
        if (poll(&fd, 1, (int)(left / 1000000) + 1) > 0)
            return true;
    return false;
}

static void
end_it(const struct nni_child *c)
{
    if (ends_within(c, LINGER_MS))
        return;
    log_error(&c->start->log,
              "the dispatcher did not end within %d s: it is killed",
              LINGER_MS / 1000);
    kill(c->pid, SIGKILL);
}

/* ---- signals ---- */

/* The connection may stay after the child's end, for the manager to close it;
 * who wants the process to stop is not kept waiting for that. */
static void *
pass_signals(void *arg)
{
    const struct timespec parting = {.tv_sec = PARTING_S};
    struct nni_child *c = arg;
    siginfo_t end;
    sigset_t set;
    int number;

    stop_signals(&set);
    if (sigwait(&set, &number) != 0 || atomic_load(&c->over))
        return NULL;
    kill(c->pid, number);
    end_it(c);
    wait_for(c->pid, &end);
    (void)sigtimedwait(&set, NULL, &parting); /* or once more */
    if (atomic_load(&c->over))
        return NULL;
    pthread_join(c->watching, NULL); /* main waits for us before it would */
    _exit(128 + number);
}

static int
begin(struct nni_child *c, struct err *err)
{
    int rc = pthread_create(&c->watching, NULL, watch_end, c);

    if (rc == 0) {
        rc = pthread_create(&c->passing, NULL, pass_signals, c);
        c->guarded = rc == 0;
        if (c->guarded)
            return 0;
        kill(c->pid, SIGKILL);
        pthread_join(c->watching, NULL);
    }
    errno = rc;
    return err_errno(err, ERR_SYSTEM, "cannot start a thread");
}

/* The child has ended: who looks at *c must not outlive it. */
static void
join_threads(struct nni_child *c)
{
    if (!c->guarded)
        return;
    atomic_store(&c->over, true);
    pthread_kill(c->passing, SIGTERM); /* wakes it from sigwait(3) */
    pthread_join(c->passing, NULL);
    pthread_join(c->watching, NULL);
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
add_work(const struct nni_child *c, const struct lockfile *lock, char *text,
         size_t size)
{
    static const char *const sides[] = {
        [LOCKFILE_DEFAULT] = "tuner", [LOCKFILE_ASSESSOR] = "assessor"};
    const struct exp_params *p = &c->start->params;
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
read_lock(const struct nni_child *c, struct lockfile *out)
{
    const char *folder = c->start->environment.checkpoint;

    return folder != NULL && lockfile_read(folder, out) &&
           out->writer.pid == (uint64_t)c->pid;
}

static void
tell_crash(struct nni_child *c)
{
    const struct nni_start *n = c->start;
    int number = c->end.si_status;
    struct lockfile lock;
    struct err err;
    char name[32];

    snprintf(c->text, sizeof c->text, "the dispatcher was ended by %s",
             signal_name(number, name, sizeof name));
    if (read_lock(c, &lock)) {
        if (exp_params_read(n->text, &c->start->params, NULL) == 0)
            add_work(c, &lock, c->text, sizeof c->text);
        if (deaths_is_fault(number) &&
            nni_folder_note_crash(n->environment.checkpoint, &lock, &err) != 0)
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
    if (c->end.si_pid != 0)
        return;
    wait_for(c->pid, &c->end);
    if (c->end.si_code == CLD_EXITED)
        read_words(c);
    else
        tell_crash(c);
}

const char *
nni_child_await(void *arg)
{
    struct nni_child *c = arg;

    if (ends_within(c, AWAIT_MS))
        learn(c);
    else
        snprintf(c->text, sizeof c->text,
                 "the dispatcher says no more, but its process has not ended");
    return c->text[0] != '\0' ? c->text : NULL;
}

/* ---- the two processes ---- */

/* Nobody else ends a dispatcher whose manager's shell keeps descriptors. */
static void
end_with(pid_t parent)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        raise(SIGKILL);
}

int
nni_child_fork(struct nni_child *c, struct nni_start *n, struct err *err)
{
    pid_t parent = getpid();
    int words[2];
    sigset_t set;

    *c = (struct nni_child){.start = n, .gone = {-1, -1}, .socket = -1};
    if (pipe2(words, O_CLOEXEC) != 0)
        return err_errno(err, ERR_SYSTEM, "cannot set up descriptors");
    stop_signals(&set);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    fflush(NULL);
    c->pid = fork();
    c->words = words[c->pid == 0];
    close(words[c->pid != 0]);
    if (c->pid == 0) {
        end_with(parent);
        return 0;
    }
    if (c->pid > 0)
        return 1;
    close(c->words);
    return err_errno(err, ERR_SYSTEM, "cannot fork");
}

int
nni_child_guard(struct nni_child *c, int socket, struct err *err)
{
    if (socket >= 0)
        c->socket = fcntl(socket, F_DUPFD_CLOEXEC, 0);
    if ((socket >= 0 && c->socket < 0) || pipe2(c->gone, O_CLOEXEC) != 0 ||
        fcntl(c->words, F_SETFL, O_NONBLOCK) != 0)
        return err_errno(err, ERR_SYSTEM, "cannot set up descriptors");
    return begin(c, err);
}

void
nni_child_leave(struct nni_child *c, int status, const struct err *err)
{
    if (status != EXIT_DONE)
        (void)file_write_all(c->words, err->text, strlen(err->text), NULL);
    close(c->words);
}

void
nni_child_dismiss(struct nni_child *c)
{
    if (c->socket >= 0)
        shutdown(c->socket, SHUT_RDWR);
    end_it(c);
}

bool
nni_child_failed(struct nni_child *c)
{
    static const int in_order[] = {EXIT_DONE, EXIT_GRACE, 128 + SIGTERM,
                                   128 + SIGINT, 128 + SIGHUP};

    learn(c);
    if (c->end.si_code != CLD_EXITED)
        return true;
    for (size_t i = 0; i < sizeof in_order / sizeof *in_order; i++)
        if (c->end.si_status == in_order[i])
            return false;
    return true;
}

int
nni_child_status(struct nni_child *c, int status)
{
    learn(c);
    join_threads(c);
    if (c->end.si_code != CLD_EXITED)
        return 128 + c->end.si_status;
    return c->end.si_status != EXIT_DONE ? c->end.si_status : status;
}

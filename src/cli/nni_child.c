/* SPDX-License-Identifier: MIT */
#include "cli/nni_child.h"

#include "cli/nni_crashes.h"
#include "cli/nni_start.h"
#include "cli/verb.h"
#include "core/file.h"
#include "core/stop_signals.h"
#include "log/lock.h"
#include "supervisor/deaths.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

/* DESIGN
 *
 * A pipe holds the child's last words.  No descriptor of the dispatcher's tells
 * of its end: a process that a plugin forked may keep copies of them all.  So a
 * thread waits for the process itself, and passes its end on to those who read
 * the socket by shutting down the parent's end of that.  The same thread passes
 * signals on to the child. */

#define PARTING_MS 2000 /* for the manager to be told of a stop */
#define AWAIT_MS 2000   /* less than what a manager waits for a pong */
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
        shutdown(c->socket, SHUT_RD); /* what was sent can be read still */
}

/* Who wants the process to stop is not kept waiting for the manager, which may
 * not close the connection at the child's end.  It is told of that first, for a
 * while, or until there is one more signal; then this process ends, unless that
 * is over in order meanwhile. */
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
begin(struct nni_child *c, struct err *err)
{
    int rc = pthread_create(&c->guard, NULL, guard, c);

    c->guarded = rc == 0;
    errno = rc;
    return rc == 0 ? 0 : err_errno(err, ERR_SYSTEM, "cannot start a thread");
}

/* The child has ended: the thread that looks at *c must not outlive it. */
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
    char work[40];

    for (int i = 0; i < LOCKFILE_SLOTS; i++) {
        uint64_t at = lock->slots[i];
        size_t len = strlen(text);

        if (at != 0 && names[i] != NULL)
            snprintf(text + len, size - len, "; the %s %.64s was %s", sides[i],
                     names[i], supervisor_work(at, work, sizeof work));
    }
}

/* What the child left in the lock file beside its log. */
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

const char *
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

/* Where the manager's shell keeps descriptors, nothing else than its parent's
 * end ends a dispatcher. */
int
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

int
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
    for (size_t i = 0; i < sizeof in_order / sizeof *in_order; i++)
        if (c->end.status == in_order[i])
            return false;
    return true;
}

int
nni_child_status(struct nni_child *c, int status)
{
    learn(c);
    end_guard(c);
    supervisor_close(&c->dispatcher);
    if (c->end.signal != 0)
        return 128 + c->end.signal;
    return c->end.status != EXIT_DONE ? c->end.status : status;
}

/* SPDX-License-Identifier: MIT */
/* DESIGN.  A run ends when its client says so, when it is told to and its time
 * is over, or when the process that it belongs to is gone: one pidfd of each
 * such process lies in an epoll, beside an eventfd for the other two. */
#include "runner/client/client.h"

#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
#include "core/list.h"
#include "core/process.h"
#include "trial/files.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define ASKER_MAX 65536
#define EXIT_MAX 65536

extern const struct runner_ops runner_client;

/* A process that has trials. */
struct owner {
    struct owner *next;
    pid_t pid;
    uint64_t start;
    int pidfd;
    uint64_t runs;
    bool gone;
};

struct client {
    struct runner base;
    struct client_server server;
    struct owner *owners;
    struct list runs;
    int event_fd; /* readable: a run has ended */
};

struct client_run {
    struct run base;
    struct link link;
    char *folder;
    struct owner *owner; /* NULL: nobody's */
    int metrics_fd;
    int64_t began_ns; /* CLOCK_REALTIME */
    bool ended, given_back;
    struct outcome outcome;
};

static struct client *
client_of(const struct run *run)
{
    return (struct client *)run->runner;
}

/* ---- who has trials ---- */

static void
watch_fd(const struct client *c, int fd, void *of)
{
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = of};

    epoll_ctl(c->base.fd, EPOLL_CTL_ADD, fd, &e);
}

/* NULL: it is gone already. */
static struct owner *
join_owner(struct client *c, pid_t pid, uint64_t start)
{
    struct owner *o = c->owners;

    while (o != NULL && (o->pid != pid || o->start != start))
        o = o->next;
    if (o == NULL && (o = calloc(1, sizeof *o)) != NULL) {
        *o = (struct owner){.next = c->owners, .pid = pid, .start = start};
        o->pidfd = process_open(pid, start);
        if (o->pidfd < 0) {
            free(o);
            return NULL;
        }
        watch_fd(c, o->pidfd, o);
        c->owners = o;
    }
    if (o != NULL)
        o->runs++;
    return o;
}

static void
leave_owner(struct client *c, struct owner *o)
{
    struct owner **link = &c->owners;

    if (o == NULL || --o->runs > 0)
        return;
    while (*link != o)
        link = &(*link)->next;
    *link = o->next;
    close(o->pidfd); /* which takes it out of epoll */
    free(o);
}

/* ---- a run ---- */

static void
client_leave(struct run *base)
{
    struct client_run *run = (struct client_run *)base;

    list_remove(&run->link);
    leave_owner(client_of(base), run->owner);
    if (run->metrics_fd >= 0)
        close(run->metrics_fd);
    free(run->folder);
    free(run);
}

static struct client_run *
run_new(struct runner *r, struct trial *t, const struct runner_phase *phase,
        struct err *err)
{
    struct client_run *run = calloc(1, sizeof *run);
    char *path = file_join(phase->folder, TRIAL_METRICS);

    if (run == NULL || path == NULL) {
        err_set(err, ERR_MEMORY, "out of memory");
        free(run);
        free(path);
        return NULL;
    }
    run->base = (struct run){.runner = r, .trial = t};
    run->folder = strdup(phase->folder);
    run->metrics_fd =
        open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    list_add(&((struct client *)r)->runs, NULL, &run->link, run);
    if (run->folder == NULL)
        err_set(err, ERR_MEMORY, "out of memory");
    else if (run->metrics_fd < 0)
        err_errno(err, ERR_SYSTEM, "%s: cannot open", path);
    free(path);
    if (run->folder != NULL && run->metrics_fd >= 0)
        return run;
    client_leave(&run->base);
    return NULL;
}

static int
write_part(const struct client_run *run, const char *name, const char *text,
           size_t len, struct err *err)
{
    char *path = file_join(run->folder, name);
    int rc = path == NULL ? err_set(err, ERR_MEMORY, "out of memory")
                          : file_write_plain(path, text, len, err);

    free(path);
    return rc;
}

static int
own(struct client_run *run, pid_t asker, struct err *err)
{
    uint64_t start = asker > 0 ? process_start(asker) : 0;
    char text[100];
    int len;

    run->began_ns = clock_realtime_ns();
    if (asker > 0)
        run->owner = join_owner(client_of(&run->base), asker, start);
    if (asker > 0 && run->owner == NULL) {
        errno = EAGAIN; /* for whoever asks next */
        return err_errno(err, ERR_SYSTEM, "process %d has gone", (int)asker);
    }
    run->base.pid = asker;
    len = snprintf(text, sizeof text, "%d %llu %lld\n", (int)asker,
                   (unsigned long long)start, (long long)run->began_ns);
    return write_part(run, TRIAL_ASKER, text, (size_t)len, err);
}

static struct run *
client_start(struct runner *r, const struct runner_task *task, struct err *err)
{
    struct client *c = (struct client *)r;
    struct client_run *run = run_new(r, task->trial, &task->phase, err);
    pid_t asker = 0;

    if (run == NULL)
        return NULL;
    if (!c->server.take(c->server.ctx, &asker)) {
        errno = EAGAIN;
        err_errno(err, ERR_SYSTEM, "nobody asks for a trial");
    } else if (own(run, asker, err) == 0) {
        c->server.give(c->server.ctx, task);
        return &run->base;
    }
    client_leave(&run->base);
    return NULL;
}

static struct run *
client_adopt(struct runner *r, struct trial *t,
             const struct runner_phase *phase)
{
    struct client_run *run = run_new(r, t, phase, NULL);
    unsigned long long start;
    char *path;
    struct buf text;
    long long began;
    bool lives = false;
    int pid;

    if (run == NULL)
        return NULL;
    path = file_join(run->folder, TRIAL_ASKER);
    buf_init(&text, 4 * ASKER_MAX);
    if (path != NULL && file_read_plain(path, ASKER_MAX, &text, NULL) == 0 &&
        sscanf(buf_text(&text), "%d %llu %lld", &pid, &start, &began) == 3 &&
        outcome_read(run->folder, &run->outcome, NULL) == 0 &&
        run->outcome.kind == OUTCOME_LOST) {
        run->base.pid = pid;
        run->began_ns = began;
        if (pid > 0)
            run->owner = join_owner(client_of(&run->base), pid, start);
        lives = pid == 0 || run->owner != NULL;
    }
    buf_fini(&text);
    free(path);
    if (lives)
        return &run->base;
    client_leave(&run->base);
    return NULL;
}

static void
client_clear(struct runner *r, const struct runner_phase *phase)
{
    (void)r, (void)phase; /* no process is ours */
}

static int
client_watch(struct run *run)
{
    (void)run; /* its owner is */
    return 0;
}

/* ---- its end ---- */

static void
wake(const struct client *c)
{
    const uint64_t one = 1;

    if (write(c->event_fd, &one, sizeof one) < 0)
        return; /* it is readable already */
}

static void
end_with(struct client_run *run, enum outcome_kind kind, int number)
{
    run->outcome = (struct outcome){.kind = kind,
                                    .number = number,
                                    .started_ns = run->began_ns,
                                    .ended_ns = clock_realtime_ns()};
    run->ended = true;
    wake(client_of(&run->base));
}

static struct run *
client_look(struct runner *r)
{
    struct client *c = (struct client *)r;
    struct epoll_event e[16];
    int n = epoll_wait(r->fd, e, 16, 0);
    uint64_t count;

    for (int i = 0; i < n; i++)
        if (e[i].data.ptr != NULL)
            ((struct owner *)e[i].data.ptr)->gone = true;
    for (struct link *at = c->runs.first; at != NULL; at = at->next) {
        struct client_run *run = at->of;

        if (run->ended || run->given_back ||
            (run->owner != NULL && run->owner->gone))
            return &run->base;
    }
    if (read(c->event_fd, &count, sizeof count) < 0)
        return NULL;
    return NULL;
}

static void
client_stop(struct run *base, enum run_stop how)
{
    struct client_run *run = (struct client_run *)base;

    (void)how;
    if (!run->ended)
        end_with(run, OUTCOME_SIGNALLED, SIGTERM);
}

static int
client_end_run(struct run *base, struct run_end *out, struct err *err)
{
    struct client_run *run = (struct client_run *)base;

    (void)err;
    *out = (struct run_end){.outcome = run->outcome, .again = !run->ended};
    client_leave(base);
    return 0;
}

/* ---- what its client says ---- */

void
client_serve(struct runner *r, const struct client_server *server)
{
    ((struct client *)r)->server = *server;
}

bool
client_is_open(const struct run *base)
{
    const struct client_run *run = (const struct client_run *)base;

    return !run->ended && !run->given_back;
}

pid_t
client_owner(const struct run *run)
{
    const struct owner *o = ((const struct client_run *)run)->owner;

    return o != NULL ? o->pid : 0;
}

static int
append(struct client_run *run, const char *line, size_t len, int64_t *end,
       struct err *err)
{
    off_t before = lseek(run->metrics_fd, 0, SEEK_END);
    struct buf text;
    int rc;

    buf_init(&text, TRIAL_METRIC_MAX + 1);
    buf_add(&text, line, len);
    buf_add_char(&text, '\n');
    rc = buf_check(&text, "a result", err);
    if (rc == 0)
        rc = file_write_all(run->metrics_fd, text.data, text.len, err);
    if (rc != 0 && before >= 0 && ftruncate(run->metrics_fd, before) != 0)
        err_place(err, TRIAL_METRICS);
    buf_fini(&text);
    if (end != NULL)
        *end = lseek(run->metrics_fd, 0, SEEK_END);
    return rc;
}

int
client_report(struct run *run, const char *line, size_t len, int64_t *end,
              struct err *err)
{
    return append((struct client_run *)run, line, len, end, err);
}

int
client_end(struct run *base, const char *result, const char *failed,
           struct err *err)
{
    struct client_run *run = (struct client_run *)base;
    off_t before = lseek(run->metrics_fd, 0, SEEK_END);
    struct buf text;
    int rc = 0;

    if (result != NULL && append(run, result, strlen(result), NULL, err) != 0)
        return -1;
    end_with(run, failed != NULL ? OUTCOME_DECLARED : OUTCOME_EXITED, 0);
    if (failed != NULL)
        snprintf(run->outcome.text, sizeof run->outcome.text, "%s", failed);
    buf_init(&text, EXIT_MAX);
    if (failed != NULL)
        buf_printf(&text, TRIAL_EXIT_FAILED " %s\n", run->outcome.text);
    else
        buf_add_text(&text, TRIAL_EXIT_EXITED " 0\n");
    buf_printf(&text, "started_ns %lld\nended_ns %lld\n",
               (long long)run->outcome.started_ns,
               (long long)run->outcome.ended_ns);
    rc = write_part(run, TRIAL_EXIT, text.data, text.len, err);
    buf_fini(&text);
    if (rc == 0)
        return 0;
    run->ended = false;
    if (before >= 0 && ftruncate(run->metrics_fd, before) != 0)
        err_place(err, TRIAL_METRICS);
    return -1;
}

void
client_give_back(struct run *base)
{
    struct client_run *run = (struct client_run *)base;

    run->given_back = !run->ended;
    wake(client_of(base));
}

/* ---- its kind ---- */

static void
client_close(struct runner *r)
{
    struct client *c = (struct client *)r;

    while (c->runs.first != NULL)
        client_leave(&((struct client_run *)c->runs.first->of)->base);
    if (r->fd >= 0)
        close(r->fd);
    if (c->event_fd >= 0)
        close(c->event_fd);
    free(c);
}

static int
client_open(struct runner **out, const struct runner_setup *setup,
            struct err *err)
{
    struct client *c = calloc(1, sizeof *c);

    (void)setup;
    if (c == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    c->base.ops = &runner_client;
    c->base.fd = epoll_create1(EPOLL_CLOEXEC);
    c->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (c->base.fd < 0 || c->event_fd < 0) {
        err_errno(err, ERR_SYSTEM, "cannot watch for the ends of trials");
        client_close(&c->base);
        return -1;
    }
    watch_fd(c, c->event_fd, NULL);
    *out = &c->base;
    return 0;
}

const struct runner_ops runner_client = {
    .name = "client",
    .can = RUNNER_CHECKPOINTS | RUNNER_LASTS,
    .descriptors = 2,
    .open = client_open,
    .close = client_close,
    .start = client_start,
    .adopt = client_adopt,
    .clear = client_clear,
    .watch = client_watch,
    .look = client_look,
    .stop = client_stop,
    .end = client_end_run,
    .leave = client_leave,
};

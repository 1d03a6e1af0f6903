/* SPDX-License-Identifier: MIT */
/* DESIGN.  A run ends when its client says so, when it is told to and its time
 * is over, or when the process that it belongs to is gone: one pidfd of each
 * such process lies in an epoll, beside an eventfd for the other two. */
#include "runner/client/client.h"

#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
#include "core/list.h"
#include "core/map.h"
#include "core/number.h"
#include "core/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_SIZE 64
#define NOTE_MAX 200
#define BLOCK ((size_t)1 << 16) /* of the ledger */
#define ASTRAY 4096 /* trials are given out in their order, but for so many */

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

/* A line of the ledger. */
struct given {
    int pid;
    uint64_t start, number;
    int64_t began_ns;
};

struct client {
    struct runner base;
    struct client_server server;
    struct owner *owners;
    struct list runs;
    int ledger_fd;
    struct map given; /* by the last parts of folders; what was read of it, */
    off_t unread;     /* which lies before this; -1: nothing was */
    uint64_t oldest;  /* the first trial in what was read */
    int event_fd;     /* readable: a run has ended */
};

struct client_run {
    struct run base;
    struct link link;
    struct owner *owner;  /* NULL: nobody's */
    uint64_t number;      /* of the client that has it, in that process */
    int64_t began_ns;     /* CLOCK_REALTIME */
    char name[NAME_SIZE]; /* the last part of its trial's folder */
    bool ended;
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

static void
drop_owner(struct client *c, struct owner *o)
{
    struct owner **link = &c->owners;

    while (*link != o)
        link = &(*link)->next;
    *link = o->next;
    close(o->pidfd); /* which takes it out of epoll */
    free(o);
}

/* It is remembered as long as it lives; NULL: it is gone already. */
static struct owner *
join_owner(struct client *c, pid_t pid, uint64_t start)
{
    struct owner *o = c->owners;

    while (o != NULL &&
           (o->pid != pid || o->gone || (start > 0 && o->start != start)))
        o = o->next;
    if (o == NULL && (o = calloc(1, sizeof *o)) != NULL) {
        *o = (struct owner){.next = c->owners, .pid = pid, .start = start};
        if (start == 0)
            o->start = process_start(pid);
        o->pidfd = process_open(pid, o->start);
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
    if (o != NULL && --o->runs == 0 && o->gone)
        drop_owner(c, o);
}

/* ---- the ledger ---- */

static const char *
name_of(const struct runner_phase *phase)
{
    return strrchr(phase->folder, '/') + 1;
}

/* `pid`, -1: it was given back, or is to be tried again. */
static int
note(const struct client_run *run, int pid, uint64_t start, struct err *err)
{
    const struct client *c = client_of(&run->base);
    char line[NOTE_MAX];
    int len = snprintf(line, sizeof line, "\n%s %d %llu %lld %llu", run->name,
                       pid, (unsigned long long)start, (long long)run->began_ns,
                       (unsigned long long)run->number);

    if (file_write_all(c->ledger_fd, line, (size_t)len, err) == 0)
        return 0;
    err_place(err, "%s", c->server.ledger);
    return -1;
}

/* Of each trial the last line counts, which is read first. */
static void
take_note(struct client *c, const char *line)
{
    const char *at = strchr(line, ' ');
    uint64_t trial; /* if it is a first attempt's */
    struct given *g = malloc(sizeof *g);
    unsigned long long start, number = 0;
    long long began;

    if (g != NULL && at != NULL &&
        map_get(&c->given, line, (size_t)(at - line)) == NULL &&
        sscanf(at, "%d %llu %lld %llu", &g->pid, &start, &began, &number) >=
            3) {
        g->start = start;
        g->number = number;
        g->began_ns = began;
        if (number_parse_u64(line, (size_t)(at - line), &trial))
            c->oldest = trial;
        if (map_put(&c->given, line, (size_t)(at - line), g) == 0)
            return;
    }
    free(g);
}

/* Reads the block before what was read; a line that it begins within is left
 * for the next one. */
static void
read_block(struct client *c)
{
    off_t from = c->unread > (off_t)BLOCK ? c->unread - (off_t)BLOCK : 0;
    char *block = calloc(1, BLOCK + 1), *end, *line;
    ssize_t n = block == NULL ? -1
                              : pread(c->ledger_fd, block,
                                      (size_t)(c->unread - from), from);

    c->unread = from;
    if (n > 0) {
        for (end = block + n;
             (line = memrchr(block, '\n', (size_t)(end - block))) != NULL;
             end = line) {
            *end = '\0';
            take_note(c, line + 1);
        }
        if (end < block + n)
            c->unread = from + (end - block);
    }
    free(block);
}

/* Whether what was not read may tell whose a trial is. */
static bool
may_be_before(const struct client *c, const char *name)
{
    uint64_t trial;

    return c->unread > 0 && (!number_parse_u64(name, strlen(name), &trial) ||
                             trial <= c->oldest || trial - c->oldest < ASTRAY);
}

/* Whose a trial is.  The ledger is read from its end, as far as need be: those
 * that live were given out lately.  NULL: nobody's. */
static const struct given *
find_given(struct client *c, const char *name)
{
    const struct given *g;
    struct stat st;

    if (c->unread < 0) {
        c->unread = fstat(c->ledger_fd, &st) == 0 ? st.st_size : 0;
        c->oldest = UINT64_MAX;
    }
    while ((g = map_get(&c->given, name, strlen(name))) == NULL &&
           may_be_before(c, name))
        read_block(c);
    return g;
}

/* ---- a run ---- */

static void
client_leave(struct run *base)
{
    struct client_run *run = (struct client_run *)base;

    list_remove(&run->link);
    leave_owner(client_of(base), run->owner);
    free(run);
}

static struct client_run *
run_new(struct runner *r, struct trial *t, const struct runner_phase *phase)
{
    struct client_run *run = calloc(1, sizeof *run);

    if (run == NULL)
        return NULL;
    run->base = (struct run){.runner = r, .trial = t};
    snprintf(run->name, sizeof run->name, "%s", name_of(phase));
    list_add(&((struct client *)r)->runs, NULL, &run->link, run);
    return run;
}

/* 1: it has gone meanwhile, as err tells. */
static int
own(struct client_run *run, struct client_owner asker, struct err *err)
{
    struct client *c = client_of(&run->base);
    pid_t pid = asker.pid;

    run->began_ns = clock_realtime_ns();
    if (pid > 0)
        run->owner = join_owner(c, pid, 0);
    if (pid > 0 && run->owner == NULL) {
        if (kill(pid, 0) != 0 && errno == ESRCH) {
            err_set(err, ERR_SYSTEM, "process %d has gone", (int)pid);
            return 1;
        }
        errno = EMFILE; /* or no memory: either passes */
        return err_errno(err, ERR_SYSTEM, "cannot watch process %d", (int)pid);
    }
    run->base.pid = pid;
    run->number = asker.number;
    return note(run, (int)pid, pid > 0 ? run->owner->start : 0, err);
}

/* Gives the run to the first who waits and whose process lives. */
static int
own_next(struct client_run *run, struct err *err)
{
    const struct client_server *s = &client_of(&run->base)->server;
    struct client_owner asker = {0};
    int rc = 1;

    while (rc > 0 && s->take(s->ctx, &asker)) {
        rc = own(run, asker, err);
        if (rc > 0)
            s->refuse(s->ctx, err->text);
    }
    if (rc <= 0)
        return rc;
    errno = EAGAIN;
    return err_errno(err, ERR_SYSTEM, "nobody asks for a trial");
}

static struct run *
client_start(struct runner *r, const struct runner_task *task, struct err *err)
{
    struct client *c = (struct client *)r;
    struct client_run *run = run_new(r, task->trial, &task->phase);

    if (run == NULL) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    if (own_next(run, err) == 0) {
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
    struct client *c = (struct client *)r;
    const char *name = name_of(phase);
    const struct given *g;
    struct client_run *run;

    g = find_given(c, name);
    run = g == NULL || g->pid < 0 ? NULL : run_new(r, t, phase);
    if (run == NULL)
        return NULL;
    run->base.pid = g->pid;
    run->number = g->number;
    run->began_ns = g->began_ns;
    if (g->pid > 0)
        run->owner = join_owner(c, g->pid, g->start);
    if (g->pid == 0 || run->owner != NULL)
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
}

/* Who has no trials is forgotten. */
static void
note_gone(struct client *c, struct owner *o)
{
    o->gone = true;
    if (o->runs == 0)
        drop_owner(c, o);
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
            note_gone(c, e[i].data.ptr);
    for (struct link *at = c->runs.first; at != NULL; at = at->next) {
        struct client_run *run = at->of;

        if (run->ended || (run->owner != NULL && run->owner->gone))
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
    wake(client_of(base));
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

int
client_serve(struct runner *r, const struct client_server *server,
             struct err *err)
{
    struct client *c = (struct client *)r;

    c->server = *server;
    c->ledger_fd = file_open_plain(server->ledger, O_RDWR | O_APPEND | O_CREAT);
    return c->ledger_fd >= 0
               ? 0
               : err_errno(err, ERR_SYSTEM, "%s: cannot open", server->ledger);
}

bool
client_is_open(const struct run *base)
{
    return !((const struct client_run *)base)->ended;
}

struct client_owner
client_owner(const struct run *base)
{
    const struct client_run *run = (const struct client_run *)base;

    return (struct client_owner){
        .pid = run->owner != NULL ? run->owner->pid : 0, .number = run->number};
}

void
client_end(struct run *base, const char *failed, bool again)
{
    struct client_run *run = (struct client_run *)base;

    end_with(run, failed != NULL ? OUTCOME_DECLARED : OUTCOME_EXITED, 0);
    if (failed == NULL)
        return;
    snprintf(run->outcome.text, sizeof run->outcome.text, "%s", failed);
    if (again)
        note(run, -1, 0, NULL); /* if not, it is its asker's after a kill */
}

void
client_give_back(struct run *base)
{
    note((struct client_run *)base, -1, 0, NULL);
}

/* ---- its kind ---- */

static void
client_close(struct runner *r)
{
    struct client *c = (struct client *)r;

    while (c->runs.first != NULL)
        client_leave(&((struct client_run *)c->runs.first->of)->base);
    while (c->owners != NULL)
        drop_owner(c, c->owners);
    for (size_t i = 0; i < c->given.n_slots; i++)
        if (c->given.slots[i].key != NULL)
            free(c->given.slots[i].value);
    map_fini(&c->given);
    if (r->fd >= 0)
        close(r->fd);
    if (c->event_fd >= 0)
        close(c->event_fd);
    if (c->ledger_fd >= 0)
        close(c->ledger_fd);
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
    c->ledger_fd = -1;
    c->unread = -1;
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
    .descriptors = 0,
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

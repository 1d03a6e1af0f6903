/* SPDX-License-Identifier: MIT */
/* DESIGN.  One queue for all hooks, so that commands start in the order of the
 * events.  The pidfds of those that run lie in an epoll of their own, which the
 * manager's epoll watches as one source.  A command reads the event from a file
 * in memory and not from a pipe, so that one that does not read it holds up
 * nothing. */
#include "manager/hooks.h"

#include "config/experiment.h"
#include "core/err.h"
#include "core/file.h"
#include "core/number.h"
#include "core/process.h"
#include "manager/events.h"
#include "trial/files.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#define ENDS_AT_ONCE 16
#define COMMAND_SHOWN 60
#define ENV_EVENT "TUNEPIPE_EVENT"
#define ENV_JSON "TUNEPIPE_EVENT_JSON"
#define ENV_VALUE "TUNEPIPE_VALUE"
#define OURS_MAX 8

struct hook {
    struct hooks *hooks;
    const struct hook_config *config;
    uint64_t waiting, calls, failures, dropped;
};

struct call {
    struct call *next;
    struct hook *hook;
    enum event_name name;
    char *json; /* what is known of the event, NUL-terminated */
    size_t len;
    char *trial;    /* NULL: none */
    char value[40]; /* "": none */
    pid_t pid;
    int pidfd;
    int64_t deadline_ns;
    bool overdue;
};

void
hooks_init(struct hooks *h)
{
    *h = (struct hooks){.poll_fd = -1, .log_fd = -1};
    h->end = &h->waiting;
}

static void
call_free(struct call *c)
{
    if (c->pidfd >= 0)
        close(c->pidfd);
    free(c->json);
    free(c->trial);
    free(c);
}

/* A call of the hook, with a copy of the event; NULL: out of memory. */
static struct call *
call_new(struct hook *hook, const struct event *e)
{
    struct call *c = calloc(1, sizeof *c);

    if (c == NULL)
        return NULL;
    c->hook = hook;
    c->name = e->name;
    c->len = e->len;
    c->pidfd = -1;
    c->json = strdup(e->json);
    if (e->trial != NULL)
        c->trial = strdup(e->trial);
    if (e->has_value)
        number_format(e->value, c->value);
    if (c->json != NULL && (e->trial == NULL || c->trial != NULL))
        return c;
    call_free(c);
    return NULL;
}

static void
warn(const struct hook *hook, const char *text)
{
    const struct hooks *h = hook->hooks;
    const char *command = hook->config->command;
    char line[1024];

    snprintf(line, sizeof line, "hook %.100s (%.*s%s): %s", hook->config->glob,
             (int)strcspn(command, "\n") < COMMAND_SHOWN
                 ? (int)strcspn(command, "\n")
                 : COMMAND_SHOWN,
             command,
             strlen(command) > COMMAND_SHOWN || strchr(command, '\n') != NULL
                 ? "..."
                 : "",
             text);
    h->of.warn(h->of.ctx, line);
}

/* Tells that the command has failed, where it is the first time; how often is
 * told at the end. */
static void
note_failure(struct hook *hook, const char *how)
{
    char text[768];

    if (hook->failures++ > 0)
        return;
    snprintf(text, sizeof text, "%.500s; what it said is in " FOLDER_HOOKS_LOG,
             how);
    warn(hook, text);
}

static int
queue_call(void *ctx, const struct event *e, struct err *err)
{
    struct hook *hook = ctx;
    struct hooks *h = hook->hooks;
    struct call *c;

    if (hook->waiting >= HOOK_QUEUE_MAX) {
        if (hook->dropped++ > 0)
            return 0;
        return err_set(err, ERR_INPUT,
                       "%d of its calls wait: those that come now are dropped",
                       HOOK_QUEUE_MAX);
    }
    c = call_new(hook, e);
    if (c == NULL) {
        hook->dropped++;
        return err_set(err, ERR_MEMORY, "out of memory");
    }
    *h->end = c;
    h->end = &c->next;
    hook->waiting++;
    return 0;
}

static int
open_files(struct hooks *h, struct err *err)
{
    char *path = file_join(h->of.folder, FOLDER_HOOKS_LOG);

    if (path == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    h->log_fd = open(
        path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (h->log_fd < 0)
        err_errno(err, ERR_SYSTEM, "%s: cannot open", path);
    free(path);
    if (h->log_fd < 0)
        return -1;
    h->poll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (h->poll_fd < 0)
        return err_errno(err, ERR_SYSTEM, "cannot watch hooks");
    return 0;
}

int
hooks_open(struct hooks *h, const struct hooks_of *of, struct events *bus,
           struct err *err)
{
    char who[160];

    h->of = *of;
    if (of->x->n_hooks == 0)
        return 0;
    if (open_files(h, err) != 0)
        return -1;
    h->all = calloc(of->x->n_hooks, sizeof *h->all);
    if (h->all == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    h->n = of->x->n_hooks;
    for (size_t i = 0; i < h->n; i++) {
        h->all[i] = (struct hook){.hooks = h, .config = &of->x->hooks[i]};
        snprintf(who, sizeof who, "hook %.100s", of->x->hooks[i].glob);
        if (events_on(bus, of->x->hooks[i].glob, who, queue_call, &h->all[i],
                      err) == 0)
            return -1;
    }
    return 0;
}

/* ---- the commands' processes ---- */

/* The environment of a command: our variables, then the manager's own. */
struct vars {
    char *ours[OURS_MAX + 1]; /* ends with NULL */
    size_t n_ours;
    char **all;
    bool failed;
};

static void
set_var(struct vars *v, const char *name, const char *value)
{
    char *var;

    if (asprintf(&var, "%s=%s", name, value) < 0)
        v->failed = true;
    else
        v->ours[v->n_ours++] = var;
}

/* Puts our folder first in PATH, so that a command can call tunepipe. */
static void
set_path(struct vars *v, const char *program_folder)
{
    const char *path = getenv("PATH");
    char *value;

    if (program_folder == NULL || path == NULL)
        return;
    if (asprintf(&value, "%s:%s", program_folder, path) < 0) {
        v->failed = true;
        return;
    }
    set_var(v, "PATH", value);
    free(value);
}

static void
make_vars(struct vars *v, const struct hooks_of *of, const struct call *c)
{
    static const char *const others[] = {ENV_JSON, ENV_VALUE, TRIAL_ENV_ID,
                                         TRIAL_ENV_DIR, NULL};

    *v = (struct vars){.n_ours = 0};
    set_var(v, ENV_EVENT, event_name(c->name));
    if (c->len <= HOOK_JSON_MAX)
        set_var(v, ENV_JSON, c->json);
    if (c->trial != NULL)
        set_var(v, TRIAL_ENV_ID, c->trial);
    if (c->value[0] != '\0')
        set_var(v, ENV_VALUE, c->value);
    set_var(v, TRIAL_ENV_EXPERIMENT_DIR, of->folder);
    set_path(v, of->program_folder);
    v->all = process_environment(v->ours, others);
    v->failed |= v->all == NULL;
}

static void
vars_fini(struct vars *v)
{
    for (size_t i = 0; i < v->n_ours; i++)
        free(v->ours[i]);
    free(v->all);
}

/* A file in memory with the JSON as a line, to be read from its beginning. */
static int
make_input(const struct call *c, struct err *err)
{
    int fd = memfd_create("event", MFD_CLOEXEC);

    if (fd >= 0 && file_write_all(fd, c->json, c->len, err) == 0 &&
        file_write_all(fd, "\n", 1, err) == 0 && lseek(fd, 0, SEEK_SET) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return err_errno(err, ERR_SYSTEM, "cannot keep the event in memory");
}

/* Starts the call's process: a shell, in a process group of its own. */
static int
spawn(const struct hooks *h, struct call *c, struct err *err)
{
    const char *const argv[] = {"/bin/sh", "-c", c->hook->config->command,
                                NULL};
    struct process_spawn how = {.argv = argv,
                                .folder = h->of.x->trial_folder,
                                .files = {-1, h->log_fd, h->log_fd}};
    struct vars vars;
    int rc = -1;

    how.files[0] = make_input(c, err);
    if (how.files[0] < 0)
        return -1;
    make_vars(&vars, &h->of, c);
    how.env = vars.all;
    if (vars.failed)
        err_set(err, ERR_MEMORY, "out of memory");
    else if ((c->pid = process_spawn(&how, &c->pidfd, NULL)) < 0)
        err_errno(err, ERR_SYSTEM, "%s: cannot start", argv[0]);
    else
        rc = 0;
    vars_fini(&vars);
    close(how.files[0]);
    return rc;
}

static void
start(struct hooks *h, struct call *c, int64_t now_ns)
{
    struct epoll_event e = {.events = EPOLLIN, .data = {.ptr = c}};
    struct err err = {0};

    c->hook->calls++;
    if (spawn(h, c, &err) != 0) {
        note_failure(c->hook, err.text);
        call_free(c);
        return;
    }
    if (epoll_ctl(h->poll_fd, EPOLL_CTL_ADD, c->pidfd, &e) != 0) {
        note_failure(c->hook, "it cannot be watched");
        kill(-c->pid, SIGKILL);
        process_reap(&c->pidfd);
        call_free(c);
        return;
    }
    c->deadline_ns = now_ns + h->of.x->hook_timeout_ms * 1000000;
    c->next = h->running;
    h->running = c;
    h->n_running++;
}

static struct call *
next_call(struct hooks *h)
{
    struct call *c = h->waiting;

    h->waiting = c->next;
    if (h->waiting == NULL)
        h->end = &h->waiting;
    c->next = NULL;
    c->hook->waiting--;
    return c;
}

static void
kill_overdue(struct hooks *h, int64_t now_ns)
{
    for (struct call *c = h->running; c != NULL; c = c->next)
        if (!c->overdue && now_ns >= c->deadline_ns) {
            c->overdue = true;
            kill(-c->pid, SIGKILL); /* not yet waited for: it is ours */
        }
}

void
hooks_go(struct hooks *h, int64_t now_ns)
{
    kill_overdue(h, now_ns);
    while (h->waiting != NULL && h->n_running < h->of.x->hook_concurrency)
        start(h, next_call(h), now_ns);
}

int64_t
hooks_deadline(const struct hooks *h)
{
    int64_t nearest = INT64_MAX;

    for (const struct call *c = h->running; c != NULL; c = c->next)
        if (!c->overdue && c->deadline_ns < nearest)
            nearest = c->deadline_ns;
    return nearest;
}

bool
hooks_busy(const struct hooks *h)
{
    return h->running != NULL || h->waiting != NULL;
}

static void
take_end(struct hooks *h, struct call *c)
{
    struct call **link = &h->running;
    siginfo_t info;
    char how[128];

    /* Closing the pidfd does not take it out of the epoll: a process that was
     * forked from this one may have a copy of it. */
    epoll_ctl(h->poll_fd, EPOLL_CTL_DEL, c->pidfd, NULL);
    info = process_reap(&c->pidfd);
    while (*link != c)
        link = &(*link)->next;
    *link = c->next;
    h->n_running--;
    if (c->overdue)
        snprintf(how, sizeof how,
                 "event %s took longer than hookTimeout (%.6g s) and was "
                 "killed",
                 event_name(c->name), (double)h->of.x->hook_timeout_ms / 1e3);
    else
        snprintf(how, sizeof how, "event %s ended with %s %d",
                 event_name(c->name),
                 info.si_code == CLD_EXITED ? "exit status" : "signal",
                 info.si_status);
    if (c->overdue || info.si_code != CLD_EXITED || info.si_status != 0)
        note_failure(c->hook, how);
    call_free(c);
}

void
hooks_take(struct hooks *h)
{
    struct epoll_event events[ENDS_AT_ONCE];
    int n = epoll_wait(h->poll_fd, events, ENDS_AT_ONCE, 0);

    for (int i = 0; i < n; i++)
        take_end(h, events[i].data.ptr);
}

void
hooks_give_up(struct hooks *h)
{
    while (h->waiting != NULL) {
        struct call *c = next_call(h);

        c->hook->dropped++;
        call_free(c);
    }
    for (struct call *c = h->running; c != NULL; c = c->next)
        kill(-c->pid, SIGKILL);
}

void
hooks_say(struct hooks *h)
{
    char text[128];

    for (size_t i = 0; i < h->n; i++) {
        struct hook *hook = &h->all[i];

        if (hook->failures > 1) {
            snprintf(text, sizeof text,
                     "failed %" PRIu64 " of %" PRIu64 " times", hook->failures,
                     hook->calls);
            warn(hook, text);
        }
        if (hook->dropped > 0) {
            snprintf(text, sizeof text, "%" PRIu64 " calls were dropped",
                     hook->dropped);
            warn(hook, text);
        }
    }
}

void
hooks_close(struct hooks *h)
{
    hooks_give_up(h);
    while (h->running != NULL) {
        struct call *c = h->running;

        process_reap(&c->pidfd);
        h->running = c->next;
        call_free(c);
    }
    if (h->poll_fd >= 0)
        close(h->poll_fd);
    if (h->log_fd >= 0)
        close(h->log_fd);
    free(h->all);
    hooks_init(h);
}

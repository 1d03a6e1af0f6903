/* SPDX-License-Identifier: MIT */
#include "manager/strangers.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "manager/resources.h"
#include "manager/trial.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define PAUSE_MS_FIRST 1000
#define PAUSE_MS_MOST 30000
#define ANCESTORS_MAX 64
#define STAT_MAX 65536

static int
watch(const struct resources *r, int fd)
{
    struct epoll_event e = {.events = EPOLLIN};

    return epoll_ctl(r->fd, EPOLL_CTL_ADD, fd, &e);
}

int
strangers_open(struct resources *r, struct err *err)
{
    r->fd = epoll_create1(EPOLL_CLOEXEC);
    r->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (r->fd < 0 || r->timer_fd < 0 || watch(r, r->timer_fd) != 0)
        return err_errno(err, ERR_SYSTEM, "cannot watch the machine");
    r->pause_ms = PAUSE_MS_FIRST;
    return 0;
}

static void
forget(struct resources *r)
{
    while (r->n_strangers > 0)
        close(r->strangers[--r->n_strangers]);
}

void
strangers_close(struct resources *r)
{
    forget(r);
    if (r->fd >= 0)
        close(r->fd);
    if (r->timer_fd >= 0)
        close(r->timer_fd);
    r->fd = r->timer_fd = -1;
}

/* 0: there is no such process, or it cannot be seen. */
static pid_t
parent_of(pid_t pid)
{
    char path[64];
    const char *at;
    struct buf text;
    int parent = 0;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    buf_init(&text, 4 * STAT_MAX);
    if (file_read(path, STAT_MAX, &text, NULL) == 0 &&
        (at = strrchr(buf_text(&text), ')')) != NULL)
        sscanf(at + 1, " %*c %d", &parent);
    buf_fini(&text);
    return parent;
}

static bool
is_wrapper(const struct resources *r, pid_t pid)
{
    for (const struct trial *t = r->holders; t != NULL; t = t->claim.next)
        if (!t->exited && t->pid == pid)
            return true;
    return false;
}

/* A wrapper takes in the orphans of its trial, so that all its processes stand
 * below it.  In a container NVML may give numbers that mean nothing here: such
 * a one is a stranger. */
bool
strangers_is_ours(void *ctx, pid_t pid)
{
    const struct resources *r = ctx;

    for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
        if (is_wrapper(r, pid))
            return true;
        pid = parent_of(pid);
    }
    return false;
}

static void
set_timer(const struct resources *r, int64_t ms)
{
    struct itimerspec when = {
        .it_value = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000}};

    timerfd_settime(r->timer_fd, 0, &when, NULL);
}

/* False: its end cannot be waited for. */
static bool
wait_for(struct resources *r, pid_t pid)
{
    int fd;

    if (pid <= 0 || r->n_strangers == RESOURCES_STRANGERS_MAX)
        return false;
    fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0)
        return false;
    if (watch(r, fd) != 0) {
        close(fd);
        return false;
    }
    r->strangers[r->n_strangers++] = fd;
    return true;
}

/* The timer runs in any case: a device is free once the driver says so, which
 * may be some time behind the end of the process. */
void
strangers_arm(struct resources *r)
{
    if (r->armed == r->state)
        return;
    r->armed = r->state;
    forget(r);
    for (unsigned i = 0; i < r->devices.n; i++)
        wait_for(r, r->devices.of[i].stranger);
    set_timer(r, r->pause_ms);
    if (r->pause_ms < PAUSE_MS_MOST)
        r->pause_ms *= 2;
}

void
strangers_disarm(struct resources *r)
{
    if (r->fd < 0)
        return;
    forget(r);
    set_timer(r, 0);
    r->pause_ms = PAUSE_MS_FIRST;
}

void
strangers_awake(struct resources *r)
{
    uint64_t times;
    ssize_t n = read(r->timer_fd, &times, sizeof times);

    forget(r);
    if (n < 0) /* a process ended: the driver may need a moment */
        r->pause_ms = PAUSE_MS_FIRST;
}

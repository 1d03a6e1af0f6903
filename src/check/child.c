/* SPDX-License-Identifier: MIT */
#include "check/child.h"

#include "core/clock.h"
#include "core/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

struct child_page *
child_page_new(struct err *err)
{
    void *page = mmap(NULL, sizeof(struct child_page), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (page != MAP_FAILED)
        return page;
    err_errno(err, ERR_MEMORY, "shared memory");
    return NULL;
}

void
child_page_free(struct child_page *page)
{
    if (page != NULL)
        munmap(page, sizeof *page);
}

void
child_find(struct child_page *page, enum check_verdict verdict, const char *fmt,
           ...)
{
    struct err line;
    char text[CHECK_TEXT_MAX];
    va_list ap;

    if (page->n == CHILD_FINDINGS_MAX)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    err_set(&line, ERR_PLUGIN, "%s", text); /* one line, as errors are */
    page->findings[page->n].verdict = verdict;
    memcpy(page->findings[page->n++].text, line.text, CHECK_TEXT_MAX);
}

/* In the child; never returns. */
static void
be_child(struct child_page *page, void (*work)(void *ctx), void *ctx,
         int out_fd)
{
    const struct rlimit no_core = {0, 0};
    int null = open("/dev/null", O_RDONLY);

    setrlimit(RLIMIT_CORE, &no_core);
    if (null >= 0)
        dup2(null, 0);
    dup2(out_fd, 1);
    dup2(out_fd, 2);
    work(ctx);
    fflush(NULL);
    page->finished = true;
    _exit(0);
}

/* Whether the child ends in time. */
static bool
ends_within(int pidfd, int64_t limit_ms)
{
    int64_t end = clock_monotonic_ns() + limit_ms * 1000000;
    struct pollfd p = {.fd = pidfd, .events = POLLIN};

    for (;;) {
        int64_t left_ms = (end - clock_monotonic_ns()) / 1000000;
        int rc = poll(&p, 1, left_ms > 0 ? (int)left_ms : 0);

        if (rc > 0)
            return true;
        if (rc == 0 && left_ms <= 0)
            return false;
        if (rc < 0 && errno != EINTR)
            return false;
    }
}

static const char *
signal_name(int number)
{
    static const struct {
        int number;
        const char *name;
    } names[] = {{SIGSEGV, "SIGSEGV"}, {SIGABRT, "SIGABRT"},
                 {SIGBUS, "SIGBUS"},   {SIGILL, "SIGILL"},
                 {SIGFPE, "SIGFPE"},   {SIGKILL, "SIGKILL"}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].number == number)
            return names[i].name;
    return "a signal";
}

static void
tell_end(struct child_page *page, const siginfo_t *end, bool in_time,
         int64_t limit_ms)
{
    char now[sizeof page->seen.now];

    memcpy(now, page->seen.now, sizeof now);
    now[sizeof now - 1] = '\0';
    if (now[0] == '\0')
        snprintf(now, sizeof now, "its constructors or destructors");
    if (page->n > CHILD_FINDINGS_MAX)
        page->n = 0; /* the page was written over */
    if (page->finished)
        return;
    if (!in_time)
        child_find(page, CHECK_FAILED,
                   "not done within %" PRId64 " ms, it was in %s: attach a "
                   "debugger to a process that hangs, or allow more with "
                   "--timeout",
                   limit_ms, now);
    else if (page->seen.endless)
        child_find(page, CHECK_FAILED,
                   "%s calls the host more than %" PRIu64 " times for each "
                   "parameter: bound what waits for a point that is accepted",
                   now, CALLS_HOST_MAX);
    else if (end->si_code != CLD_EXITED)
        child_find(page, CHECK_FAILED,
                   "died of %s (%d) in %s: build it with -g "
                   "-fsanitize=address, or use a debugger",
                   signal_name(end->si_status), end->si_status, now);
    else
        child_find(page, CHECK_FAILED,
                   "the process ended with status %d in %s: a plugin must "
                   "not call exit()",
                   end->si_status, now);
}

int
child_run(struct child_page *page, void (*work)(void *ctx), void *ctx,
          int out_fd, int64_t limit_ms, struct err *err)
{
    siginfo_t end;
    bool in_time;
    int pidfd;
    pid_t pid;

    memset(page, 0, sizeof *page);
    pid = process_fork(&pidfd);
    if (pid == 0)
        be_child(page, work, ctx, out_fd);
    if (pid < 0)
        return err_errno(err, ERR_SYSTEM, "fork");
    in_time = ends_within(pidfd, limit_ms);
    if (!in_time)
        kill(pid, SIGKILL);
    end = process_reap(&pidfd);
    tell_end(page, &end, in_time, limit_ms);
    return 0;
}

/* SPDX-License-Identifier: MIT */
#include "log/lock.h"

#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
#include "core/process.h"
#include "core/stop_signals.h"
#include "log/place.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <unistd.h>

/* DESIGN
 *
 * A process that finds the file locked writes into it that it wants the lock,
 * and the writer, which watches the file (inotify), answers in the same place.
 * A writer whose manager is gone says so, by itself or when it is asked, and
 * how long it takes to end; if it has not ended by then it is killed.  Only the
 * writer itself says that its manager is gone, and nobody breaks a lock: the
 * next writer begins when it has it.
 *
 * Writer and asker know each other as living processes by id and time of start.
 * A writer that is to be killed is held by a pidfd from the first look on, and
 * the file must then still be locked and say the same. */

#define LOOK_MS 10
#define ASK_MS 200
/* how long an answer, or a process that is ending, is waited for */
#define PATIENCE_MS 2000
/* added to the time that a writer says that it needs to end */
#define MARGIN_MS 1000

/* ---- for who does not write the log ---- */

int
lockfile_open(const char *folder)
{
    char *place = log_place(folder, NULL);
    char *path = place == NULL ? NULL : file_join(place, LOCKFILE_NAME);
    int fd = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);

    free(path);
    free(place);
    return fd;
}

bool
lockfile_is_locked(int fd)
{
    return fd >= 0 && hold_is_others(fd, HOLD_OFD);
}

bool
lockfile_load(int fd, struct lockfile *out)
{
    return fd >= 0 && pread(fd, out, sizeof *out, 0) == sizeof *out &&
           memcmp(out->magic, LOCKFILE_MAGIC, sizeof out->magic) == 0;
}

bool
lockfile_read(const char *folder, struct lockfile *out)
{
    int fd = lockfile_open(folder);
    bool whole = lockfile_load(fd, out);

    if (fd >= 0)
        close(fd);
    return whole;
}

/* ---- the writer's ---- */

void
lockslot_write(const struct lockslot *s, uint64_t what)
{
    /* a crash is then told without what it came from */
    if (pwrite(s->fd, &what, sizeof what, (off_t)s->offset) < 0)
        return;
}

static void
point_slots(struct loglock *l, int fd)
{
    for (size_t i = 0; i < LOCKFILE_SLOTS; i++)
        l->slots[i] = (struct lockslot){&l->map->slots[i], fd,
                                        offsetof(struct lockfile, slots) +
                                            i * sizeof l->map->slots[0]};
}

void
loglock_init(struct loglock *l)
{
    *l = (struct loglock){.fd = -1, .asked_fd = -1};
    l->map = &l->spare;
    point_slots(l, -1);
}

/* ---- who wants it ---- */

/* The process that has the lock, as far as one can see. */
struct holder {
    int fd; /* of the lock file */
    struct lockfile at;
    int process; /* its pidfd; -1: it has not said who it is, or is gone */
    bool leaves; /* it says that it ends */
    bool killed; /* we have killed it, after the time that it had asked for */
    int64_t until_ns; /* when waiting for it ends */
};

static int64_t
after_ms(uint64_t ms)
{
    return clock_monotonic_ns() + (int64_t)ms * 1000000;
}

static bool
is_same(const struct lockfile_process *a, const struct lockfile_process *b)
{
    return a->pid == b->pid && a->start == b->start;
}

static bool
is_leaving(const struct lockfile *at)
{
    return at->leaves != 0 && at->leaves != LOCKFILE_STAYS;
}

static void
forget_process(struct holder *h)
{
    if (h->process >= 0)
        close(h->process);
    h->process = -1;
}

static void
look(struct holder *h)
{
    struct lockfile at = {.writer = {0, 0}};

    if (!lockfile_load(h->fd, &at))
        at = (struct lockfile){.writer = {0, 0}};
    if (!is_same(&at.writer, &h->at.writer)) {
        forget_process(h);
        h->process = process_open((pid_t)at.writer.pid, at.writer.start);
        h->leaves = h->killed = false;
        h->until_ns = after_ms(PATIENCE_MS);
    }
    h->at = at;
    if (h->process >= 0 && !h->leaves && is_leaving(&at)) {
        h->leaves = true;
        h->until_ns = after_ms(at.leaves + MARGIN_MS);
    }
}

static void
ask(const struct holder *h)
{
    struct lockfile_process me = {(uint64_t)getpid(), process_start(getpid())};

    if (h->process >= 0 &&
        pwrite(h->fd, &me, sizeof me, offsetof(struct lockfile, asker)) < 0)
        return; /* it does not answer, and keeps the lock */
}

/* Kills a writer that did not end in the time for which it had asked. */
static bool
end_it(struct holder *h)
{
    struct lockfile at;

    if (!h->leaves || h->killed || !lockfile_is_locked(h->fd) ||
        !lockfile_load(h->fd, &at) || !is_same(&at.writer, &h->at.writer) ||
        !is_leaving(&at))
        return false;
    process_kill(h->process, SIGKILL);
    h->killed = true;
    h->until_ns = after_ms(PATIENCE_MS);
    return true;
}

static bool
is_stopped(void)
{
    sigset_t stops, pending;

    stop_signals(&stops);
    sigpending(&pending);
    return (sigismember(&stops, SIGTERM) && sigismember(&pending, SIGTERM)) ||
           (sigismember(&stops, SIGINT) && sigismember(&pending, SIGINT)) ||
           (sigismember(&stops, SIGHUP) && sigismember(&pending, SIGHUP));
}

/* Locks the file.  Waits also for a program that a writer had just started when
 * it was killed: it holds the lock until it calls exec.  OTHERS: *err tells
 * whose it is, or is as it was. */
static enum hold_word
lock_it(struct holder *h, struct hold *hold, const char *path, struct err *err)
{
    struct err why = {0};
    enum hold_word word;

    h->until_ns = after_ms(PATIENCE_MS);
    for (unsigned i = 0;
         (word = hold_take(hold, h->fd, path, HOLD_OFD, &why)) == HOLD_OTHERS &&
         why.code == ERR_NONE;
         i++) {
        look(h);
        if (clock_monotonic_ns() >= h->until_ns && !end_it(h))
            return word;
        if (is_stopped())
            return word;
        if (i % (ASK_MS / LOOK_MS) == 0)
            ask(h);
        poll(NULL, 0, LOOK_MS);
    }
    if (word != HOLD_TAKEN)
        err_set(err, ERR_LOG, "%s", why.text);
    return word;
}

/* Says in err who has the lock, and what to do. */
static int
refuse(const struct holder *h, const char *path, struct err *err)
{
    uint64_t pid = h->at.writer.pid;

    if (pid == 0)
        return err_set(err, ERR_LOG,
                       "%s: locked, expected one writer; fuser '%s' names the "
                       "process",
                       path, path);
    if (h->process < 0 || process_ended(h->process))
        return err_set(err, ERR_LOG,
                       "%s: locked by process %" PRIu64 ", expected one "
                       "writer; that one has ended, but a process that it "
                       "started keeps the lock: fuser '%s' names it",
                       path, pid, path);
    if (h->at.leaves == LOCKFILE_STAYS)
        return err_set(err, ERR_LOG,
                       "%s: locked by process %" PRIu64 ", expected one "
                       "writer; its manager is there: stop that experiment, or "
                       "the process (kill %" PRIu64 ")",
                       path, pid, pid);
    if (h->leaves)
        return err_set(err, ERR_LOG,
                       "%s: locked by process %" PRIu64 ", expected one "
                       "writer; its manager is gone, and it has not ended yet: "
                       "try again, or kill -9 %" PRIu64,
                       path, pid, pid);
    return err_set(err, ERR_LOG,
                   "%s: locked by process %" PRIu64 ", expected one writer; it "
                   "does not say whether its manager is gone: if so, kill "
                   "-9 %" PRIu64,
                   path, pid, pid);
}

int
loglock_take(struct loglock *l, const char *path, struct err *err)
{
    struct holder h = {.process = -1};
    struct err why = {0};
    enum hold_word word;

    l->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (l->fd < 0)
        return err_errno(err, ERR_LOG, "%s: cannot open", path);
    h.fd = l->fd;
    word = lock_it(&h, &l->hold, path, &why);
    if (why.code != ERR_NONE && err != NULL)
        *err = why;
    else if (word == HOLD_OTHERS)
        refuse(&h, path, err);
    forget_process(&h);
    return word == HOLD_TAKEN ? 0 : -1;
}

/* ---- who has it ---- */

/* Watches the lock file.  Where that fails, a process that wants the lock waits
 * in vain. */
static int
watch(const char *path)
{
    int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

    if (fd < 0 || inotify_add_watch(fd, path, IN_MODIFY) >= 0)
        return fd;
    close(fd);
    return -1;
}

static bool
is_mapped(const struct loglock *l)
{
    return l->map != &l->spare;
}

bool
loglock_asked(struct loglock *l)
{
    char events[512];
    struct lockfile_process asker = l->map->asker;
    int process;

    while (read(l->asked_fd, events, sizeof events) > 0)
        ;
    if (!is_mapped(l) && pread(l->fd, &asker, sizeof asker,
                               offsetof(struct lockfile, asker)) < 0)
        return false;
    process = process_open((pid_t)asker.pid, asker.start);
    if (process < 0)
        return false;
    close(process);
    return true;
}

void
loglock_answer(struct loglock *l, uint64_t leaves)
{
    if (is_leaving(l->map))
        return;
    atomic_store(&l->map->leaves, leaves);
    if (!is_mapped(l) && pwrite(l->fd, &leaves, sizeof leaves,
                                offsetof(struct lockfile, leaves)) < 0)
        return; /* who asks waits as long as for one that does not answer */
}

/* Whether it says that the file system has no shared mappings. */
static bool
lacks_mappings(int number)
{
    return number == ENODEV || number == ENOSYS || number == EOPNOTSUPP ||
           number == EINVAL || number == EACCES;
}

const char *
loglock_lacks(const struct loglock *l)
{
    bool unmapped = l->fd >= 0 && !is_mapped(l);

    if (l->hold.note != NULL && unmapped)
        return HOLD_LACKS ", nor shared mappings: " LOCKFILE_NAME HOLD_ENDING
                          " stands for a lock, and each command is noted by a "
                          "write";
    if (l->hold.note != NULL)
        return HOLD_LACKS ": " LOCKFILE_NAME HOLD_ENDING " stands for one";
    return unmapped ? "no shared mappings: each command is noted by a write"
                    : NULL;
}

/* The file is written, not only stretched: a full disk is told here and not by
 * a SIGBUS later. */
int
loglock_map(struct loglock *l, const char *path, struct err *err)
{
    struct lockfile fresh = {
        .writer = {(uint64_t)getpid(), process_start(getpid())}};
    void *map;

    memcpy(fresh.magic, LOCKFILE_MAGIC, sizeof fresh.magic);
    if (!lockfile_load(l->fd, &l->before))
        l->before = (struct lockfile){.writer = {0, 0}};
    if (pwrite(l->fd, &fresh, sizeof fresh, 0) != sizeof fresh ||
        ftruncate(l->fd, sizeof fresh) != 0)
        return err_errno(err, ERR_LOG, "%s: cannot write", path);
    map = mmap(NULL, sizeof *l->map, PROT_READ | PROT_WRITE, MAP_SHARED, l->fd,
               0);
    if (map == MAP_FAILED && !lacks_mappings(errno))
        return err_errno(err, ERR_LOG, "%s: cannot map", path);
    if (map != MAP_FAILED)
        l->map = map;
    point_slots(l, map != MAP_FAILED ? -1 : l->fd);
    l->asked_fd = watch(path);
    return 0;
}

void
loglock_release(struct loglock *l)
{
    if (is_mapped(l))
        munmap(l->map, sizeof *l->map);
    if (l->asked_fd >= 0)
        close(l->asked_fd);
    if (l->fd >= 0)
        close(l->fd);
    hold_drop(&l->hold);
}

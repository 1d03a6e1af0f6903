/* SPDX-License-Identifier: MIT */
/* DESIGN.  A reservation of the machine's memory fits when
 *
 *   need + max(reserved, total - available) + keep <= total
 *
 * reserved being that of all trials that run: it bounds what ours will come
 * to, and total - available is what everybody, ours included, has come to.
 * Devices follow the same rule, each for itself (devices.c).
 *
 * What an attempt needs follows from what stands in the folders of those
 * before it, so that it is the same after a resume. */
#include "manager/resources.h"

#include "config/wishes.h"
#include "core/buf.h"
#include "core/bytes.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
#include "core/process.h"
#include "manager/claim.h"
#include "manager/devices.h"
#include "manager/machine.h"
#include "manager/oom.h"
#include "manager/trial.h"
#include "runner/runner.h"
#include "trial/files.h"

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <unistd.h>

/* What an attempt at a trial needs. */
struct need {
    uint64_t memory; /* bytes; 0: nothing is reserved */
    struct devices_need devices;
    uint64_t failed[2]; /* how many attempts before lacked memory, or a device's
                           memory, in the phase that the trial is in */
};

static struct need need_of(const struct resources *r, const struct trial *t);
static void need_add_failures(struct need *need, const struct resources *r,
                              const struct trial *t);
static int foreign_open(struct resources *r, struct err *err);
static void foreign_close(struct resources *r);
static bool foreign_is_ours(void *r, pid_t pid);
static void foreign_arm(struct resources *r);
static void foreign_disarm(struct resources *r);
static void foreign_awake(struct resources *r);

#define PEAK_FILE "memory-peak"
#define KILLS_NS 1000000000 /* how old the count of kills may be */
#define NUMBER_MAX 64
#define FILE_MAX 65536

static uint64_t
greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static int
check_machine(struct resources *r, struct err *err)
{
    const struct wishes *w = r->wishes;
    char want[BYTES_TEXT_MAX], all[BYTES_TEXT_MAX], kept[BYTES_TEXT_MAX];
    struct machine now;

    if (machine_look(&now, err) != 0)
        return -1;
    r->total = now.total;
    r->available = now.available;
    r->keep = greater(now.total / 100 * w->headroom_percent, w->floor);
    if (w->memory + r->keep <= r->total && r->keep < r->total)
        return 0;
    return err_set(err, ERR_CONFIG,
                   "trialMemory: %s, but the machine has %s, of which %s are "
                   "kept free (memoryHeadroom: %llu%%, memoryFloor)",
                   w->memory_auto ? "auto" : bytes_format(w->memory, want),
                   bytes_format(r->total, all), bytes_format(r->keep, kept),
                   (unsigned long long)w->headroom_percent);
}

int
resources_open(struct resources *r, const struct wishes *w, struct err *err)
{
    *r = RESOURCES_CLOSED;
    r->wishes = w;
    r->state = 1;
    if (wishes_reserve(w) && check_machine(r, err) != 0)
        return -1;
    if (devices_open(&r->devices, w, err) != 0)
        return -1;
    if (!wishes_reserve(w) && r->devices.nvml == NULL)
        return 0;
    return foreign_open(r, err);
}

void
resources_close(struct resources *r)
{
    foreign_close(r);
    devices_close(&r->devices);
    cgroup_close(&r->cgroup);
}

static void
load_peak(struct resources *r)
{
    char *path = file_join(r->folder, PEAK_FILE);
    struct buf text;

    buf_init(&text, 4 * FILE_MAX);
    if (path != NULL && file_read(path, FILE_MAX, &text, NULL) == 0)
        r->peak = strtoull(buf_text(&text), NULL, 10);
    buf_fini(&text);
    free(path);
}

/* Writes down a peak that is greater than all before, of which there are few.
 */
void
resources_learn(struct resources *r, const struct trial *t)
{
    uint64_t peak = oom_peak(&t->outcome);
    char *path, text[NUMBER_MAX];
    int len;

    if (!wishes_reserve(r->wishes) || peak <= r->peak)
        return;
    r->peak = peak;
    path = file_join(r->folder, PEAK_FILE);
    len = snprintf(text, sizeof text, "%llu\n", (unsigned long long)peak);
    if (path != NULL)
        file_write(path, text, (size_t)len, NULL);
    free(path);
}

int
resources_begin(struct resources *r, const char *folder, const char *id,
                char *said, size_t size, struct err *err)
{
    const struct wishes *w = r->wishes;
    char most[BYTES_TEXT_MAX];
    struct err why = {0};

    said[0] = '\0';
    r->folder = folder;
    if (wishes_reserve(w))
        load_peak(r);
    r->limited = w->memory > 0 && w->limit != LIMIT_NONE;
    if (!r->limited)
        return 0;
    r->by_rlimit = w->limit == LIMIT_RLIMIT;
    if (!r->by_rlimit && cgroup_open(&r->cgroup, id, &why) != 0) {
        if (w->limit == LIMIT_CGROUP)
            return err_set(err, ERR_CONFIG, "memoryLimit: cgroup: %s",
                           why.text);
        r->by_rlimit = true;
    }
    bytes_format(w->memory, most);
    if (!r->by_rlimit)
        snprintf(said, size,
                 "each trial is kept to %s by a control group (version %d)",
                 most, r->cgroup.version);
    else
        snprintf(said, size,
                 "each process of a trial is kept to %s by RLIMIT_DATA%s%.150s",
                 most, why.text[0] != '\0' ? "; no control group: " : "",
                 why.text);
    return 0;
}

/* Looks at the machine, once for all trials that wait. */
static void
look_at_machine(struct resources *r)
{
    struct machine now;

    if (r->looked == r->state)
        return;
    r->looked = r->state;
    if (r->devices.nvml != NULL)
        devices_look(&r->devices, foreign_is_ours, r);
    if (wishes_reserve(r->wishes) && machine_look(&now, NULL) == 0)
        r->available = now.available < r->total ? now.available : r->total;
}

/* Whether so much memory can be had; else says why not.  *foreign is set where
 * more is used than trials have reserved. */
static bool
fits(const struct resources *r, uint64_t need, struct buf *why, bool *foreign)
{
    uint64_t used = r->total - r->available;
    uint64_t taken = greater(r->reserved, used), gone = taken + r->keep;
    char want[BYTES_TEXT_MAX], left[BYTES_TEXT_MAX], all[BYTES_TEXT_MAX];
    char theirs[BYTES_TEXT_MAX], kept[BYTES_TEXT_MAX];

    if (need == 0 || need + gone <= r->total)
        return true;
    *foreign = *foreign || used > r->reserved;
    buf_printf(why, "memory: needs %s, %s free of %s (%s %s, %s kept free); ",
               bytes_format(need, want),
               bytes_format(gone < r->total ? r->total - gone : 0, left),
               bytes_format(r->total, all), bytes_format(taken, theirs),
               used > r->reserved ? "used" : "reserved",
               bytes_format(r->keep, kept));
    return false;
}

/* Finds what the trial can be given; false: not now. */
static bool
find_room(struct resources *r, const struct need *need, uint64_t *devices,
          struct buf *why, bool *foreign)
{
    bool ok;

    look_at_machine(r);
    ok = fits(r, need->memory, why, foreign);
    *devices = 0;
    if (need->devices.count == 0 || !r->wishes->devices_managed)
        return ok;
    *devices =
        devices_find(&r->devices, r->wishes, &need->devices, why, foreign);
    return ok && *devices != 0;
}

static uint64_t
kills_now(struct resources *r)
{
    int64_t now = clock_monotonic_ns();

    if (r->kills_ns == 0 || now - r->kills_ns > KILLS_NS) {
        r->kills = machine_kills();
        r->kills_ns = now;
    }
    return r->kills;
}

static void
count_claim(struct resources *r, struct trial *t)
{
    struct claim *c = &t->claim;

    if (c->memory == 0 && c->devices == 0)
        return;
    c->held = true;
    c->before = NULL;
    c->next = r->holders;
    if (r->holders != NULL)
        r->holders->claim.before = t;
    r->holders = t;
    r->reserved += c->memory;
    devices_take(&r->devices, c);
}

/* Says how the trial is kept to its memory: by a control group of its own, or
 * where that cannot be made by RLIMIT_DATA. */
static void
limit_memory(const struct resources *r, struct trial *t)
{
    struct claim *c = &t->claim;
    char name[64];

    c->cgroup[0] = '\0';
    c->limit = r->limited ? c->memory : 0;
    if (!r->limited || r->by_rlimit)
        return;
    snprintf(name, sizeof name, "%s.%llu", t->id,
             (unsigned long long)t->attempt);
    if (cgroup_make(&r->cgroup, name, c->limit, c->cgroup, NULL) != 0)
        c->cgroup[0] = '\0';
}

static void
end_list(struct buf *why)
{
    if (why->len >= 2)
        why->len -= 2; /* the last "; " */
}

enum resources_answer
resources_claim(struct resources *r, struct trial *t, bool devices, char *why,
                size_t size)
{
    struct claim *c = &t->claim;
    bool foreign = false;
    struct need need;
    struct buf text;
    bool ok;

    why[0] = '\0';
    if (c->asked == r->state)
        return RESOURCES_LATER;
    need = need_of(r, t);
    if (!devices)
        need.devices.count = 0;
    buf_init(&text, 4096);
    ok = find_room(r, &need, &c->devices, &text, &foreign);
    end_list(&text);
    if (!ok) {
        snprintf(why, size, "%s", buf_text(&text));
        c->asked = r->state;
        if (foreign)
            foreign_arm(r);
    }
    buf_fini(&text);
    if (!ok)
        return RESOURCES_LATER;
    c->managed = r->wishes->devices_managed;
    c->alone = need.devices.alone;
    c->memory = need.memory;
    c->device_memory = devices ? need.devices.memory : 0;
    c->kills_before = kills_now(r);
    limit_memory(r, t);
    count_claim(r, t);
    return RESOURCES_NOW;
}

void
resources_release(struct resources *r, struct trial *t)
{
    struct claim *c = &t->claim;

    if (!c->held)
        return;
    c->held = false;
    if (c->before != NULL)
        c->before->claim.next = c->next;
    else
        r->holders = c->next;
    if (c->next != NULL)
        c->next->claim.before = c->before;
    r->reserved -= c->memory;
    devices_give_back(&r->devices, c);
    if (c->cgroup[0] != '\0')
        cgroup_remove(c->cgroup);
    foreign_disarm(r);
    r->state++;
}

void
resources_adopt(struct resources *r, struct trial *t)
{
    if (!claim_read(&t->claim, t->folder))
        t->claim.kills_before = kills_now(r);
    if (!trial_exited(t))
        count_claim(r, t);
    r->state++;
}

void
resources_explain(struct resources *r, const struct trial *t, bool wanted,
                  struct buf *out)
{
    struct need need = need_of(r, t);
    size_t before = out->len;
    bool foreign = false;
    uint64_t devices;

    if (!wanted)
        need.devices.count = 0;
    r->looked = 0; /* so that it is looked at now */
    if (find_room(r, &need, &devices, out, &foreign))
        out->len = before;
    else
        end_list(out);
}

void
resources_awake(struct resources *r)
{
    foreign_awake(r);
    r->state++;
}

/* Whether another attempt would be given more than this one had. */
static bool
is_more(const struct resources *r, const struct trial *t, enum oom kind)
{
    const struct wishes *w = r->wishes;
    bool alone = t->claim.alone || w->trials_a_device == 1;

    if (kind == OOM_MEMORY)
        return wishes_reserve(w) && t->claim.memory < r->total - r->keep;
    return w->devices > 0 && (!alone || w->use_active);
}

bool
resources_failed(struct resources *r, struct trial *t, bool *again)
{
    bool unprepared = t->state == TRIAL_PREPARE_ENDED;
    const char *name =
        unprepared ? TRIAL_PREPARE "/" TRIAL_STDERR : TRIAL_STDERR;
    char *words = file_join(t->folder, name);
    enum oom kind = words == NULL ? OOM_NOT
                                  : oom_judge(&t->outcome, &t->claim, r->wishes,
                                              words, t->why, sizeof t->why);
    struct need need = {0};

    free(words);
    *again = false;
    if (kind == OOM_NOT)
        return false;
    oom_record(t->folder, kind, unprepared, oom_peak(&t->outcome));
    need_add_failures(&need, r, t);
    *again = is_more(r, t, kind) &&
             need.failed[kind == OOM_DEVICE] < r->wishes->retries;
    return true;
}

/* ---- what a trial needs ---- */

#define FIRST_GUESS ((uint64_t)2 << 30)

static uint64_t
smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t
memory_without_failures(const struct resources *r)
{
    const struct wishes *w = r->wishes;
    uint64_t learned = r->peak + r->peak / 10;

    if (w->memory_auto)
        return r->peak > 0 ? learned
                           : smaller(FIRST_GUESS, (r->total - r->keep) / 4);
    /* A trial that is not kept to its limit may be known to use more. */
    return w->memory > 0 && !r->limited ? greater(w->memory, learned)
                                        : w->memory;
}

/* Adds what follows from the attempts before that lacked memory: how many they
 * were, and more than they had. */
static void
need_add_failures(struct need *need, const struct resources *r,
                  const struct trial *t)
{
    struct trial before = {.number = t->number};
    struct claim had;
    uint64_t bytes;
    bool prepares;

    memcpy(before.id, t->id, sizeof before.id);
    for (; before.attempt < t->attempt; before.attempt++) {
        enum oom kind = OOM_NOT;

        if (trial_place(&before, r->folder, NULL) == 0)
            kind = oom_recorded(before.folder, &prepares, &bytes);
        if (kind == OOM_NOT)
            continue;
        need->failed[kind == OOM_DEVICE] +=
            prepares == (t->state == TRIAL_PREPARE_ENDED);
        if (kind == OOM_DEVICE) {
            need->devices.alone = true;
        } else if (wishes_reserve(r->wishes)) {
            if (claim_read(&had, before.folder))
                bytes = greater(bytes, had.memory);
            need->memory = greater(need->memory, bytes + bytes / 2);
        }
    }
    free(before.folder);
}

static struct need
need_of(const struct resources *r, const struct trial *t)
{
    const struct wishes *w = r->wishes;
    struct need need = {.memory = memory_without_failures(r),
                        .devices = {w->devices, w->device_memory, false}};

    if (t->attempt > 0)
        need_add_failures(&need, r, t);
    if (wishes_reserve(w))
        need.memory = smaller(need.memory, r->total - r->keep);
    return need;
}

/* ---- what processes of no trial hold ---- */

#define PAUSE_MS_FIRST 1000
#define PAUSE_MS_MOST 30000
#define ANCESTORS_MAX 64
#define STAT_MAX 65536

static int
watch_fd(const struct resources *r, int fd)
{
    struct epoll_event e = {.events = EPOLLIN};

    return epoll_ctl(r->event_fd, EPOLL_CTL_ADD, fd, &e);
}

/* Makes r->event_fd. */
static int
foreign_open(struct resources *r, struct err *err)
{
    r->event_fd = epoll_create1(EPOLL_CLOEXEC);
    r->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (r->event_fd < 0 || r->timer_fd < 0 || watch_fd(r, r->timer_fd) != 0)
        return err_errno(err, ERR_SYSTEM, "cannot watch the machine");
    r->pause_ms = PAUSE_MS_FIRST;
    return 0;
}

static void
foreign_forget(struct resources *r)
{
    while (r->n_foreign > 0)
        close(r->foreign[--r->n_foreign]);
}

static void
foreign_close(struct resources *r)
{
    foreign_forget(r);
    if (r->event_fd >= 0)
        close(r->event_fd);
    if (r->timer_fd >= 0)
        close(r->timer_fd);
    r->event_fd = r->timer_fd = -1;
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
        if (run_pid(t->run) == pid)
            return true;
    return false;
}

/* Whether the process belongs to a trial: a wrapper takes in the orphans of its
 * trial, so that all its processes stand below it.  In a container NVML may
 * give process ids that mean nothing here: such a one counts as foreign. */
static bool
foreign_is_ours(void *ctx, pid_t pid)
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

/* Waits for the end of a foreign process; false: that cannot be waited for. */
static bool
foreign_wait(struct resources *r, pid_t pid)
{
    int fd;

    if (pid <= 0 || r->n_foreign == RESOURCES_FOREIGN_MAX)
        return false;
    fd = process_watch(pid);
    if (fd < 0)
        return false;
    /* One that has ended, and that the driver still names, is left to the
     * timer: its end would be told at once, again and again. */
    if (poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 0) != 0 ||
        watch_fd(r, fd) != 0) {
        close(fd);
        return false;
    }
    r->foreign[r->n_foreign++] = fd;
    return true;
}

/* Begins to wait for what foreign processes hold.  The timer runs in any case:
 * a device is free once the driver says so, which may be some time after the
 * end of the process. */
static void
foreign_arm(struct resources *r)
{
    if (r->armed == r->state)
        return;
    r->armed = r->state;
    foreign_forget(r);
    for (unsigned i = 0; i < r->devices.n; i++)
        foreign_wait(r, r->devices.of[i].foreign);
    set_timer(r, r->pause_ms);
    if (r->pause_ms < PAUSE_MS_MOST)
        r->pause_ms *= 2;
}

/* A trial has given back what it had: nothing foreign need be waited for. */
static void
foreign_disarm(struct resources *r)
{
    if (r->event_fd < 0)
        return;
    foreign_forget(r);
    set_timer(r, 0);
    r->pause_ms = PAUSE_MS_FIRST;
}

/* r->event_fd is readable: the timer has run out, or a foreign process has
 * ended. */
static void
foreign_awake(struct resources *r)
{
    uint64_t times;
    ssize_t n = read(r->timer_fd, &times, sizeof times);

    foreign_forget(r);
    if (n < 0) /* a process ended, and the driver may need a moment */
        r->pause_ms = PAUSE_MS_FIRST;
}

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
#include "manager/claim.h"
#include "manager/machine.h"
#include "manager/oom.h"
#include "manager/strangers.h"
#include "manager/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PEAK_FILE "memory-peak"
#define FIRST_GUESS ((uint64_t)2 << 30)
#define KILLS_NS 1000000000 /* how old a look at them may be */
#define NUMBER_MAX 64
#define FILE_MAX 65536

struct need {
    uint64_t memory;
    struct devices_need devices;
    uint64_t failed[2]; /* attempts that lacked memory, or a device's */
};

static bool
reserves(const struct wishes *w)
{
    return w->memory > 0 || w->memory_auto;
}

static uint64_t
greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t
smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
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
    if (reserves(w) && check_machine(r, err) != 0)
        return -1;
    if (devices_open(&r->devices, w, err) != 0)
        return -1;
    if (!reserves(w) && r->devices.nvml == NULL)
        return 0;
    return strangers_open(r, err);
}

void
resources_close(struct resources *r)
{
    strangers_close(r);
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

/* The peaks that count are few: each is greater than all before. */
static void
learn(struct resources *r, uint64_t peak)
{
    char *path, text[NUMBER_MAX];
    int len;

    if (!reserves(r->wishes) || peak <= r->peak)
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
    if (reserves(w))
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

static uint64_t
first_need(const struct resources *r)
{
    const struct wishes *w = r->wishes;
    uint64_t learned = r->peak + r->peak / 10;

    if (w->memory_auto)
        return r->peak > 0 ? learned
                           : smaller(FIRST_GUESS, (r->total - r->keep) / 4);
    /* Who is not kept to it may be known to use more. */
    return w->memory > 0 && !r->limited ? greater(w->memory, learned)
                                        : w->memory;
}

/* The attempts before that lacked memory, and how much they had. */
static void
add_past(const struct resources *r, const struct trial *t, uint64_t attempts,
         struct need *need)
{
    struct trial past = {.number = t->number};
    struct claim had;
    uint64_t bytes;

    memcpy(past.id, t->id, sizeof past.id);
    for (; past.attempt < attempts; past.attempt++) {
        enum oom kind = OOM_NOT;

        if (trial_place(&past, r->folder, NULL) == 0)
            kind = oom_recorded(past.folder, &bytes);
        if (kind == OOM_NOT)
            continue;
        need->failed[kind == OOM_DEVICE]++;
        if (kind == OOM_DEVICE) {
            need->devices.alone = true;
        } else if (reserves(r->wishes)) {
            if (claim_read(&had, past.folder))
                bytes = greater(bytes, had.memory);
            need->memory = greater(need->memory, bytes + bytes / 2);
        }
    }
    free(past.folder);
}

static struct need
need_of(const struct resources *r, const struct trial *t)
{
    const struct wishes *w = r->wishes;
    struct need need = {.memory = first_need(r),
                        .devices = {w->devices, w->device_memory, false}};

    if (t->attempt > 0)
        add_past(r, t, t->attempt, &need);
    if (reserves(w))
        need.memory = smaller(need.memory, r->total - r->keep);
    return need;
}

/* NVML and /proc are asked once for all that wait. */
static void
look(struct resources *r)
{
    struct machine now;

    if (r->looked == r->state)
        return;
    r->looked = r->state;
    if (r->devices.nvml != NULL)
        devices_look(&r->devices, strangers_is_ours, r);
    if (reserves(r->wishes) && machine_look(&now, NULL) == 0)
        r->available = smaller(now.available, r->total);
}

static bool
fits(const struct resources *r, uint64_t need, struct buf *why, bool *strangers)
{
    uint64_t used = r->total - r->available;
    uint64_t taken = greater(r->reserved, used), gone = taken + r->keep;
    char want[BYTES_TEXT_MAX], left[BYTES_TEXT_MAX], all[BYTES_TEXT_MAX];
    char theirs[BYTES_TEXT_MAX], kept[BYTES_TEXT_MAX];

    if (need == 0 || need + gone <= r->total)
        return true;
    *strangers = *strangers || used > r->reserved;
    buf_printf(why, "memory: needs %s, %s free of %s (%s %s, %s kept free); ",
               bytes_format(need, want),
               bytes_format(gone < r->total ? r->total - gone : 0, left),
               bytes_format(r->total, all), bytes_format(taken, theirs),
               used > r->reserved ? "used" : "reserved",
               bytes_format(r->keep, kept));
    return false;
}

/* What it can have; false: not now. */
static bool
find(struct resources *r, const struct need *need, uint64_t *devices,
     struct buf *why, bool *strangers)
{
    bool ok;

    look(r);
    ok = fits(r, need->memory, why, strangers);
    *devices = 0;
    if (need->devices.count == 0 || !r->wishes->devices_managed)
        return ok;
    *devices =
        devices_find(&r->devices, r->wishes, &need->devices, why, strangers);
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
hold(struct resources *r, struct trial *t)
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

/* Where its own group cannot be made it is kept to it by the other way. */
static void
limit(const struct resources *r, struct trial *t)
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
resources_claim(struct resources *r, struct trial *t, char *why, size_t size)
{
    struct claim *c = &t->claim;
    bool strangers = false;
    struct need need;
    struct buf text;
    bool ok;

    why[0] = '\0';
    if (c->asked == r->state)
        return RESOURCES_LATER;
    need = need_of(r, t);
    buf_init(&text, 4096);
    ok = find(r, &need, &c->devices, &text, &strangers);
    end_list(&text);
    if (!ok) {
        snprintf(why, size, "%s", buf_text(&text));
        c->asked = r->state;
        if (strangers)
            strangers_arm(r);
    }
    buf_fini(&text);
    if (!ok)
        return RESOURCES_LATER;
    c->managed = r->wishes->devices_managed;
    c->alone = need.devices.alone;
    c->memory = need.memory;
    c->device_memory = need.devices.memory;
    c->kills_before = kills_now(r);
    limit(r, t);
    hold(r, t);
    return RESOURCES_NOW;
}

void
resources_release(struct resources *r, struct trial *t)
{
    struct claim *c = &t->claim;

    if (t->exited)
        learn(r, oom_peak(&t->outcome));
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
    strangers_disarm(r);
    r->state++;
}

void
resources_adopt(struct resources *r, struct trial *t)
{
    if (!claim_read(&t->claim, t->folder))
        t->claim.kills_before = kills_now(r);
    if (!t->exited)
        hold(r, t);
    r->state++;
}

void
resources_explain(struct resources *r, const struct trial *t, struct buf *out)
{
    struct need need = need_of(r, t);
    size_t before = out->len;
    bool strangers = false;
    uint64_t devices;

    r->looked = 0; /* as it is, not as it was */
    if (find(r, &need, &devices, out, &strangers))
        out->len = before;
    else
        end_list(out);
}

void
resources_awake(struct resources *r)
{
    strangers_awake(r);
    r->state++;
}

bool
resources_failed(struct resources *r, struct trial *t, bool *again)
{
    const struct wishes *w = r->wishes;
    struct need need = {0};
    enum oom kind =
        oom_judge(&t->outcome, &t->claim, w, t->folder, t->why, sizeof t->why);
    bool had_all;

    *again = false;
    if (kind == OOM_NOT)
        return false;
    oom_record(t->folder, kind, oom_peak(&t->outcome));
    add_past(r, t, t->attempt, &need);
    had_all = kind == OOM_MEMORY && reserves(w) &&
              t->claim.memory >= r->total - r->keep;
    *again = !had_all && need.failed[kind == OOM_DEVICE] < w->retries;
    return true;
}

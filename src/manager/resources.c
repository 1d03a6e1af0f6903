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
#include "manager/need.h"
#include "manager/oom.h"
#include "manager/strangers.h"
#include "manager/trial.h"
#include "trial/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PEAK_FILE "memory-peak"
#define KILLS_NS 1000000000 /* how old a look at them may be */
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
    if (wishes_reserve(r->wishes) && machine_look(&now, NULL) == 0)
        r->available = now.available < r->total ? now.available : r->total;
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
resources_claim(struct resources *r, struct trial *t, bool devices, char *why,
                size_t size)
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
    if (!devices)
        need.devices.count = 0;
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
    c->device_memory = devices ? need.devices.memory : 0;
    c->kills_before = kills_now(r);
    limit(r, t);
    hold(r, t);
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
resources_explain(struct resources *r, const struct trial *t, bool wanted,
                  struct buf *out)
{
    struct need need = need_of(r, t);
    size_t before = out->len;
    bool strangers = false;
    uint64_t devices;

    if (!wanted)
        need.devices.count = 0;
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
    const char *name = t->unrun ? TRIAL_PREPARE "/" TRIAL_STDERR : TRIAL_STDERR;
    char *words = file_join(t->folder, name);
    enum oom kind = words == NULL ? OOM_NOT
                                  : oom_judge(&t->outcome, &t->claim, r->wishes,
                                              words, t->why, sizeof t->why);
    struct need need = {0};

    free(words);
    *again = false;
    if (kind == OOM_NOT)
        return false;
    oom_record(t->folder, kind, t->unrun, oom_peak(&t->outcome));
    need_add_past(&need, r, t);
    *again = is_more(r, t, kind) &&
             need.failed[kind == OOM_DEVICE] < r->wishes->retries;
    return true;
}

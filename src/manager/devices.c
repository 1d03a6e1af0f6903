/* SPDX-License-Identifier: MIT */
#include "manager/devices.h"

#include "config/labels.h"
#include "config/wishes.h"
#include "core/buf.h"
#include "core/bytes.h"
#include "core/err.h"
#include "manager/claim.h"
#include "trial/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool
in(uint64_t set, unsigned index)
{
    return (set >> index & 1) != 0;
}

static unsigned
count(uint64_t set)
{
    unsigned n = 0;

    for (; set != 0; set &= set - 1)
        n++;
    return n;
}

static uint64_t
keep_free(const struct wishes *w, uint64_t total)
{
    return total / 100 * w->headroom_percent;
}

/* One word of CUDA_VISIBLE_DEVICES: a number, or the beginning of a UUID. */
static int
find_visible(const struct devices *d, const char *word, size_t len)
{
    struct nvml_device now;
    char *end;
    unsigned long index = strtoul(word, &end, 10);

    if (len > 0 && end == word + len)
        return index < d->n ? (int)index : -1;
    for (unsigned i = 0; len > 0 && i < d->n; i++)
        if (nvml_look(d->nvml, i, &now, NULL) == 0 &&
            strncmp(now.uuid, word, len) == 0)
            return (int)i;
    return -1;
}

/* As CUDA reads it: up to the first that is none. */
static uint64_t
read_visible(const struct devices *d, const char *text)
{
    uint64_t set = 0;

    for (;;) {
        size_t len = strcspn(text, ",");
        int index = find_visible(d, text, len);

        if (index < 0)
            return set;
        set |= (uint64_t)1 << index;
        if (text[len] == '\0')
            return set;
        text += len + 1;
    }
}

static int
find_usable(struct devices *d, const struct wishes *w, struct err *err)
{
    const char *visible = getenv(TRIAL_ENV_DEVICES);
    uint64_t all = d->n >= 64 ? UINT64_MAX : ((uint64_t)1 << d->n) - 1;
    char list[256];

    if ((w->indices & ~all) != 0)
        return err_set(err, ERR_CONFIG, "gpuIndices: %s, but there %s %u GPU%s",
                       claim_devices(w->indices, list, sizeof list),
                       d->n == 1 ? "is" : "are", d->n, d->n == 1 ? "" : "s");
    d->usable = w->indices != 0 ? w->indices : all;
    if (visible != NULL)
        d->usable &= read_visible(d, visible);
    if (count(d->usable) >= w->devices)
        return 0;
    if (count(d->usable) == d->n)
        return err_set(err, ERR_CONFIG,
                       "trialGpuNumber: %llu, but there %s %u GPU%s",
                       (unsigned long long)w->devices, d->n == 1 ? "is" : "are",
                       d->n, d->n == 1 ? "" : "s");
    return err_set(err, ERR_CONFIG,
                   "trialGpuNumber: %llu, but of %u GPU%s %u may be used "
                   "(gpuIndices, and " TRIAL_ENV_DEVICES "%s%s)",
                   (unsigned long long)w->devices, d->n, d->n == 1 ? "" : "s",
                   count(d->usable), visible != NULL ? "=" : " unset",
                   visible != NULL ? visible : "");
}

static bool
nobody(void *ctx, pid_t pid)
{
    (void)ctx;
    (void)pid;
    return true;
}

static int
check_memory(struct devices *d, const struct wishes *w, struct err *err)
{
    char want[BYTES_TEXT_MAX], most[BYTES_TEXT_MAX], kept[BYTES_TEXT_MAX];
    uint64_t enough = 0, largest = 0;

    for (unsigned i = 0; i < d->n; i++) {
        uint64_t total = d->of[i].total;

        if (!in(d->usable & d->labelled, i))
            continue;
        enough += w->device_memory + keep_free(w, total) <= total;
        if (total > largest)
            largest = total;
    }
    if (w->device_memory == 0 || enough >= w->devices)
        return 0;
    return err_set(err, ERR_CONFIG,
                   "trialGpuMemory: %s on %llu GPU%s, but %llu %s so much: the "
                   "largest has %s, of which %s are kept free "
                   "(memoryHeadroom: %llu%%)",
                   bytes_format(w->device_memory, want),
                   (unsigned long long)w->devices, w->devices == 1 ? "" : "s",
                   (unsigned long long)enough, enough == 1 ? "has" : "have",
                   bytes_format(largest, most),
                   bytes_format(keep_free(w, largest), kept),
                   (unsigned long long)w->headroom_percent);
}

/* Why no trial can run here: what there is instead. */
static int
refuse_labels(const struct devices *d, const struct wishes *w, const char *glob,
              struct err *err)
{
    const struct labels *l = &w->labels;
    struct buf text;
    int rc;

    buf_init(&text, 4096);
    for (unsigned i = 0; i < d->n; i++)
        if (in(d->usable, i)) {
            buf_printf(&text, "GPU %u: ", i);
            labels_list(l, (int)i, d->of[i].model, &text);
            buf_add_text(&text, "; ");
        }
    buf_add_text(&text, "this machine: ");
    labels_list(l, LABELS_MACHINE, d->host, &text);
    rc = err_set(err, ERR_CONFIG, "trialLabels: '%.100s' %s; there are: %.700s",
                 glob,
                 d->nvml == NULL ? "matches no label of this machine"
                 : count(d->labelled) > 0
                     ? "and the others match too few GPUs for trialGpuNumber"
                     : "matches no label of a GPU that has the others",
                 buf_text(&text));
    buf_fini(&text);
    return rc;
}

/* The machine's own labels count for each device. */
static int
find_labelled(struct devices *d, const struct wishes *w, struct err *err)
{
    struct label_names names = {d->host, NULL};
    const char *lacks = NULL, *glob;

    if (gethostname(d->host, sizeof d->host - 1) != 0)
        d->host[0] = '\0';
    for (size_t i = 0; i < w->labels.n; i++)
        if (d->nvml != NULL && w->labels.of[i].device >= (int)d->n)
            return err_set(err, ERR_CONFIG,
                           "deviceLabels: %d, but there %s %u GPU%s",
                           w->labels.of[i].device, d->n == 1 ? "is" : "are",
                           d->n, d->n == 1 ? "" : "s");
    if (d->nvml == NULL)
        lacks = labels_lack(&w->labels, LABELS_MACHINE, &names);
    for (unsigned i = 0; i < d->n; i++) {
        names.device = d->of[i].model;
        glob = labels_lack(&w->labels, (int)i, &names);
        if (glob == NULL)
            d->labelled |= (uint64_t)1 << i;
        else if (in(d->usable, i))
            lacks = glob;
    }
    if (lacks == NULL ||
        (d->nvml != NULL && count(d->usable & d->labelled) >= w->devices))
        return 0;
    return refuse_labels(d, w, lacks, err);
}

int
devices_open(struct devices *d, const struct wishes *w, struct err *err)
{
    *d = (struct devices){0};
    if (!w->devices_managed || w->devices == 0)
        return find_labelled(d, w, err);
    d->nvml = nvml_open(err);
    if (d->nvml == NULL) {
        if (err != NULL)
            err->code = ERR_CONFIG;
        return err_place(err,
                         "trialGpuNumber: %llu, but GPUs cannot be looked at",
                         (unsigned long long)w->devices);
    }
    d->n = nvml_count(d->nvml);
    if (d->n > DEVICES_MAX)
        d->n = DEVICES_MAX;
    devices_look(d, nobody, NULL);
    if (find_usable(d, w, err) != 0 || find_labelled(d, w, err) != 0)
        return -1;
    return check_memory(d, w, err);
}

void
devices_close(struct devices *d)
{
    nvml_close(d->nvml);
    d->nvml = NULL;
}

void
devices_look(struct devices *d, bool (*is_ours)(void *ctx, pid_t pid),
             void *ctx)
{
    struct nvml_device now;

    for (unsigned i = 0; i < d->n; i++) {
        struct device *v = &d->of[i];

        v->known = nvml_look(d->nvml, i, &now, NULL) == 0;
        v->total = now.total;
        v->used = now.used;
        if (v->known)
            memcpy(v->model, now.model, sizeof v->model);
        v->stranger = 0;
        for (size_t k = 0; k < now.n_pids && v->stranger == 0; k++)
            if (!is_ours(ctx, now.pids[k]))
                v->stranger = now.pids[k];
    }
}

static bool
lacks_memory(const struct wishes *w, const struct device *v, uint64_t memory)
{
    uint64_t gone = v->used > v->reserved ? v->used : v->reserved;

    return memory > 0 && memory + gone + keep_free(w, v->total) > v->total;
}

/* Whether it can be had now; else why not. */
static bool
is_free(const struct wishes *w, const struct device *v, unsigned index,
        const struct devices_need *need, struct buf *why, bool *strangers)
{
    char want[BYTES_TEXT_MAX], used[BYTES_TEXT_MAX], total[BYTES_TEXT_MAX];

    if (!v->known) {
        buf_printf(why, "GPU %u does not answer; ", index);
        *strangers = true;
    } else if (v->alone || v->trials >= w->trials_a_device) {
        buf_printf(why, "GPU %u has %u trial%s (%s); ", index, v->trials,
                   v->trials == 1 ? "" : "s",
                   v->alone ? "which needs it alone" : "maxTrialNumberPerGpu");
    } else if (need->alone && v->trials > 0) {
        buf_printf(why, "GPU %u is shared, and is needed alone; ", index);
    } else if (!w->use_active && v->stranger != 0) {
        buf_printf(why, "GPU %u busy with pid %d (useActiveGpu: false); ",
                   index, (int)v->stranger);
        *strangers = true;
    } else if (lacks_memory(w, v, need->memory)) {
        buf_printf(
            why, "GPU %u: needs %s, %s of %s are taken; ", index,
            bytes_format(need->memory, want),
            bytes_format(v->used > v->reserved ? v->used : v->reserved, used),
            bytes_format(v->total, total));
        *strangers = true;
    } else {
        return true;
    }
    return false;
}

static void
tell_label(const struct devices *d, const struct wishes *w, unsigned index,
           struct buf *why)
{
    const char *lacks =
        labels_lack(&w->labels, (int)index,
                    &(struct label_names){d->host, d->of[index].model});

    if (lacks != NULL)
        buf_printf(why, "GPU %u has no label that matches '%s'; ", index,
                   lacks);
}

uint64_t
devices_find(const struct devices *d, const struct wishes *w,
             const struct devices_need *need, struct buf *why, bool *strangers)
{
    uint64_t could = 0, chosen = 0;

    for (unsigned i = 0; i < d->n; i++) {
        if (!in(d->usable, i))
            continue;
        if (!in(d->labelled, i))
            tell_label(d, w, i, why);
        else if (is_free(w, &d->of[i], i, need, why, strangers))
            could |= (uint64_t)1 << i;
    }
    if (count(could) < need->count)
        return 0;
    while (count(chosen) < need->count) {
        const struct device *best = NULL;

        for (unsigned i = 0; i < d->n; i++)
            if (in(could & ~chosen, i) &&
                (best == NULL || d->of[i].trials < best->trials))
                best = &d->of[i];
        chosen |= (uint64_t)1 << (best - d->of);
    }
    return chosen;
}

void
devices_take(struct devices *d, const struct claim *c)
{
    for (unsigned i = 0; i < DEVICES_MAX; i++)
        if (in(c->devices, i)) {
            d->of[i].trials++;
            d->of[i].reserved += c->device_memory;
            d->of[i].alone = c->alone;
        }
}

void
devices_give_back(struct devices *d, const struct claim *c)
{
    for (unsigned i = 0; i < DEVICES_MAX; i++)
        if (in(c->devices, i)) {
            d->of[i].trials--;
            d->of[i].reserved -= c->device_memory;
            d->of[i].alone = false;
        }
}

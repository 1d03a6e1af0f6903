/* SPDX-License-Identifier: MIT */
#include "manager/devices.h"

#include "config/labels.h"
#include "config/wishes.h"
#include "core/buf.h"
#include "core/bytes.h"
#include "core/err.h"
#include "manager/claim.h"
#include "trial/files.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

/* ---- NVML: the GPUs of this machine, through the driver's own library, which
 * is loaded when it is needed ---- */

/* DESIGN.  What is called of the library is declared here: no header of the
 * vendor's is needed.  The functions are the oldest of their kind, which every
 * driver still has. */

/* Names a library to be used in the place of the driver's. */
#define NVML_ENV "TUNEPIPE_NVML"
#define NVML_PIDS_MAX 64
#define NVML_LIBRARY "libnvidia-ml.so.1"
#define NVML_SUCCESS 0
#define NVML_INSUFFICIENT_SIZE 7

struct nvml_device {
    uint64_t total, used;      /* bytes of its memory */
    char uuid[96];             /* "GPU-..." */
    char model[96];            /* "NVIDIA A100-SXM4-40GB" */
    pid_t pids[NVML_PIDS_MAX]; /* that compute on it */
    size_t n_pids;
};

typedef void *nvml_handle;

struct memory_info {
    unsigned long long total, free, used;
};

struct process_info {
    unsigned pid;
    unsigned long long used;
};

struct nvml {
    void *library;
    unsigned count;
    int (*init)(void);
    int (*shutdown)(void);
    int (*get_count)(unsigned *);
    int (*get_handle)(unsigned, nvml_handle *);
    int (*get_memory)(nvml_handle, struct memory_info *);
    int (*get_uuid)(nvml_handle, char *, unsigned);
    int (*get_name)(nvml_handle, char *, unsigned);
    int (*get_processes)(nvml_handle, unsigned *, struct process_info *);
    const char *(*explain)(int);
};

/* Refuses a library that anyone may write to: who can replace the file decides
 * what this process does. */
static int
check_file(const char *path, struct err *err)
{
    char folder[4096];
    struct stat st;
    char *slash;

    if (stat(path, &st) != 0)
        return err_errno(err, ERR_CONFIG, NVML_ENV ": %s", path);
    if (!(st.st_mode & S_IWOTH)) {
        snprintf(folder, sizeof folder, "%s", path);
        slash = strrchr(folder, '/');
        if (slash == NULL)
            return err_set(err, ERR_CONFIG,
                           NVML_ENV ": expected a path with a folder, got "
                                    "'%s'",
                           path);
        slash[slash == folder] = '\0';
        if (stat(folder, &st) != 0)
            return err_errno(err, ERR_CONFIG, NVML_ENV ": %s", folder);
        if (!(st.st_mode & S_IWOTH) || (st.st_mode & S_ISVTX))
            return 0;
    }
    return err_set(err, ERR_CONFIG,
                   NVML_ENV ": %s: not loaded, anyone may write to it or to "
                            "its folder",
                   path);
}

static int
find_functions(struct nvml *n, const char *name, struct err *err)
{
    const struct {
        const char *name;
        void *to;
    } wanted[] = {{"nvmlInit_v2", &n->init},
                  {"nvmlShutdown", &n->shutdown},
                  {"nvmlDeviceGetCount_v2", &n->get_count},
                  {"nvmlDeviceGetHandleByIndex_v2", &n->get_handle},
                  {"nvmlDeviceGetMemoryInfo", &n->get_memory},
                  {"nvmlDeviceGetUUID", &n->get_uuid},
                  {"nvmlDeviceGetName", &n->get_name},
                  {"nvmlDeviceGetComputeRunningProcesses", &n->get_processes},
                  {"nvmlErrorString", &n->explain}};

    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *symbol = dlsym(n->library, wanted[i].name);

        if (symbol == NULL)
            return err_set(err, ERR_CONFIG, "%s: lacks %s", name,
                           wanted[i].name);
        memcpy(wanted[i].to, &symbol, sizeof symbol);
    }
    return 0;
}

static int
nvml_start(struct nvml *n, const char *name, struct err *err)
{
    int rc;

    if (find_functions(n, name, err) != 0)
        return -1;
    rc = n->init();
    if (rc != NVML_SUCCESS) {
        n->shutdown = NULL;
        return err_set(err, ERR_CONFIG, "%s: %s", name, n->explain(rc));
    }
    rc = n->get_count(&n->count);
    if (rc != NVML_SUCCESS)
        return err_set(err, ERR_CONFIG, "%s: cannot count the devices: %s",
                       name, n->explain(rc));
    return 0;
}

static void
nvml_close(struct nvml *n)
{
    if (n == NULL)
        return;
    if (n->shutdown != NULL)
        n->shutdown();
    if (n->library != NULL)
        dlclose(n->library);
    free(n);
}

/* NULL: there is no such library, or it does not work; err says why. */
static struct nvml *
nvml_open(struct err *err)
{
    const char *given = getenv(NVML_ENV);
    const char *name = given != NULL ? given : NVML_LIBRARY;
    struct nvml *n;

    if (given != NULL && check_file(given, err) != 0)
        return NULL;
    n = calloc(1, sizeof *n);
    if (n == NULL) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    n->library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (n->library == NULL)
        err_set(err, ERR_CONFIG, "%s", dlerror());
    else if (nvml_start(n, name, err) == 0)
        return n;
    nvml_close(n);
    return NULL;
}

/* How many devices there are; their indices begin at 0, in the order of the
 * bus.
 */
static unsigned
nvml_count(const struct nvml *n)
{
    return n->count;
}

/* Lists the processes that compute on the device.  Where these are more than
 * there is room for, that there are any is enough: it is busy. */
static int
list_processes(const struct nvml *n, nvml_handle device,
               struct nvml_device *out)
{
    struct process_info infos[NVML_PIDS_MAX];
    unsigned count = NVML_PIDS_MAX;
    int rc = n->get_processes(device, &count, infos);

    if (rc == NVML_INSUFFICIENT_SIZE) {
        out->n_pids = 1;
        out->pids[0] = -1; /* some process */
        return NVML_SUCCESS;
    }
    if (rc != NVML_SUCCESS)
        return rc;
    out->n_pids = count < NVML_PIDS_MAX ? count : NVML_PIDS_MAX;
    for (unsigned i = 0; i < out->n_pids; i++)
        out->pids[i] = (pid_t)infos[i].pid;
    return NVML_SUCCESS;
}

static int
nvml_look(const struct nvml *n, unsigned index, struct nvml_device *out,
          struct err *err)
{
    struct memory_info memory = {0};
    nvml_handle device = NULL;
    int rc = n->get_handle(index, &device);

    *out = (struct nvml_device){0};
    if (rc == NVML_SUCCESS)
        rc = n->get_memory(device, &memory);
    if (rc == NVML_SUCCESS)
        rc = n->get_uuid(device, out->uuid, sizeof out->uuid);
    if (rc == NVML_SUCCESS)
        rc = n->get_name(device, out->model, sizeof out->model);
    if (rc == NVML_SUCCESS)
        rc = list_processes(n, device, out);
    if (rc != NVML_SUCCESS)
        return err_set(err, ERR_SYSTEM, "GPU %u: %s", index, n->explain(rc));
    out->total = memory.total;
    out->used = memory.used;
    return 0;
}

/* ---- which trial gets which of them ---- */

static bool
has_device(uint64_t set, unsigned index)
{
    return (set >> index & 1) != 0;
}

static unsigned
count_devices(uint64_t set)
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

/* The index of the device that a word of CUDA_VISIBLE_DEVICES names, by its
 * number or the beginning of its UUID; -1: none. */
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

/* The devices that CUDA_VISIBLE_DEVICES names.  As CUDA reads it, the list ends
 * at the first word that names none. */
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
    if (count_devices(d->usable) >= w->devices)
        return 0;
    if (count_devices(d->usable) == d->n)
        return err_set(err, ERR_CONFIG,
                       "trialGpuNumber: %llu, but there %s %u GPU%s",
                       (unsigned long long)w->devices, d->n == 1 ? "is" : "are",
                       d->n, d->n == 1 ? "" : "s");
    return err_set(err, ERR_CONFIG,
                   "trialGpuNumber: %llu, but of %u GPU%s %u may be used "
                   "(gpuIndices, and " TRIAL_ENV_DEVICES "%s%s)",
                   (unsigned long long)w->devices, d->n, d->n == 1 ? "" : "s",
                   count_devices(d->usable), visible != NULL ? "=" : " unset",
                   visible != NULL ? visible : "");
}

/* Before anything is started each process counts as ours: nothing waits for it.
 */
static bool
nobody_is_foreign(void *ctx, pid_t pid)
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

        if (!has_device(d->usable & d->labelled, i))
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

/* Says that no trial can run here, since no device, or not this machine, has
 * all labels that are asked for, and which labels there are. */
static int
refuse_labels(const struct devices *d, const struct wishes *w, const char *glob,
              struct err *err)
{
    const struct labels *l = &w->labels;
    struct buf text;
    int rc;

    buf_init(&text, 4096);
    for (unsigned i = 0; i < d->n; i++)
        if (has_device(d->usable, i)) {
            buf_printf(&text, "GPU %u: ", i);
            labels_list(l, (int)i, d->of[i].model, &text);
            buf_add_text(&text, "; ");
        }
    buf_add_text(&text, "this machine: ");
    labels_list(l, LABELS_MACHINE, d->host, &text);
    rc = err_set(err, ERR_CONFIG, "trialLabels: '%.100s' %s; there are: %.700s",
                 glob,
                 d->nvml == NULL ? "matches no label of this machine"
                 : count_devices(d->labelled) > 0
                     ? "and the others match too few GPUs for trialGpuNumber"
                     : "matches no label of a GPU that has the others",
                 buf_text(&text));
    buf_fini(&text);
    return rc;
}

/* Finds the devices whose labels match; the machine's own labels count for each
 * of them. */
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
        else if (has_device(d->usable, i))
            lacks = glob;
    }
    if (lacks == NULL || (d->nvml != NULL &&
                          count_devices(d->usable & d->labelled) >= w->devices))
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
    devices_look(d, nobody_is_foreign, NULL);
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
        v->foreign = 0;
        for (size_t k = 0; k < now.n_pids && v->foreign == 0; k++)
            if (!is_ours(ctx, now.pids[k]))
                v->foreign = now.pids[k];
    }
}

static bool
lacks_memory(const struct wishes *w, const struct device *v, uint64_t memory)
{
    uint64_t gone = v->used > v->reserved ? v->used : v->reserved;

    return memory > 0 && memory + gone + keep_free(w, v->total) > v->total;
}

/* Whether the device can be had now; else says why not. */
static bool
is_free(const struct wishes *w, const struct device *v, unsigned index,
        const struct devices_need *need, struct buf *why, bool *foreign)
{
    char want[BYTES_TEXT_MAX], used[BYTES_TEXT_MAX], total[BYTES_TEXT_MAX];

    if (!v->known) {
        buf_printf(why, "GPU %u does not answer; ", index);
        *foreign = true;
    } else if (v->alone || v->trials >= w->trials_a_device) {
        buf_printf(why, "GPU %u has %u trial%s (%s); ", index, v->trials,
                   v->trials == 1 ? "" : "s",
                   v->alone ? "which needs it alone" : "maxTrialNumberPerGpu");
    } else if (need->alone && v->trials > 0) {
        buf_printf(why, "GPU %u is shared, and is needed alone; ", index);
    } else if (!w->use_active && v->foreign != 0) {
        buf_printf(why, "GPU %u busy with pid %d (useActiveGpu: false); ",
                   index, (int)v->foreign);
        *foreign = true;
    } else if (lacks_memory(w, v, need->memory)) {
        buf_printf(
            why, "GPU %u: needs %s, %s of %s are taken; ", index,
            bytes_format(need->memory, want),
            bytes_format(v->used > v->reserved ? v->used : v->reserved, used),
            bytes_format(v->total, total));
        *foreign = true;
    } else {
        return true;
    }
    return false;
}

/* Says which label the device lacks. */
static void
explain_label(const struct devices *d, const struct wishes *w, unsigned index,
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
             const struct devices_need *need, struct buf *why, bool *foreign)
{
    uint64_t could = 0, chosen = 0;

    for (unsigned i = 0; i < d->n; i++) {
        if (!has_device(d->usable, i))
            continue;
        if (!has_device(d->labelled, i))
            explain_label(d, w, i, why);
        else if (is_free(w, &d->of[i], i, need, why, foreign))
            could |= (uint64_t)1 << i;
    }
    if (count_devices(could) < need->count)
        return 0;
    while (count_devices(chosen) < need->count) {
        const struct device *best = NULL;

        for (unsigned i = 0; i < d->n; i++)
            if (has_device(could & ~chosen, i) &&
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
        if (has_device(c->devices, i)) {
            d->of[i].trials++;
            d->of[i].reserved += c->device_memory;
            d->of[i].alone = c->alone;
        }
}

void
devices_give_back(struct devices *d, const struct claim *c)
{
    for (unsigned i = 0; i < DEVICES_MAX; i++)
        if (has_device(c->devices, i)) {
            d->of[i].trials--;
            d->of[i].reserved -= c->device_memory;
            d->of[i].alone = false;
        }
}

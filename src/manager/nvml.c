/* SPDX-License-Identifier: MIT */
/* Declared here is what is called: no header of the vendor's is needed.  The
 * functions are the oldest of their kind, which every driver still has. */
#include "manager/nvml.h"

#include "core/err.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LIBRARY "libnvidia-ml.so.1"
#define SUCCESS 0
#define INSUFFICIENT_SIZE 7

typedef void *handle;

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
    int (*get_handle)(unsigned, handle *);
    int (*get_memory)(handle, struct memory_info *);
    int (*get_uuid)(handle, char *, unsigned);
    int (*get_name)(handle, char *, unsigned);
    int (*get_processes)(handle, unsigned *, struct process_info *);
    const char *(*explain)(int);
};

/* Who can replace the file decides what it does. */
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
start(struct nvml *n, const char *name, struct err *err)
{
    int rc;

    if (find_functions(n, name, err) != 0)
        return -1;
    rc = n->init();
    if (rc != SUCCESS) {
        n->shutdown = NULL;
        return err_set(err, ERR_CONFIG, "%s: %s", name, n->explain(rc));
    }
    rc = n->get_count(&n->count);
    if (rc != SUCCESS)
        return err_set(err, ERR_CONFIG, "%s: cannot count the devices: %s",
                       name, n->explain(rc));
    return 0;
}

struct nvml *
nvml_open(struct err *err)
{
    const char *given = getenv(NVML_ENV);
    const char *name = given != NULL ? given : LIBRARY;
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
    else if (start(n, name, err) == 0)
        return n;
    nvml_close(n);
    return NULL;
}

void
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

unsigned
nvml_count(const struct nvml *n)
{
    return n->count;
}

/* Of more than there is room for, the first are enough: it is busy. */
static int
list_processes(const struct nvml *n, handle device, struct nvml_device *out)
{
    struct process_info infos[NVML_PIDS_MAX];
    unsigned count = NVML_PIDS_MAX;
    int rc = n->get_processes(device, &count, infos);

    if (rc == INSUFFICIENT_SIZE) {
        out->n_pids = 1;
        out->pids[0] = -1; /* some */
        return SUCCESS;
    }
    if (rc != SUCCESS)
        return rc;
    out->n_pids = count < NVML_PIDS_MAX ? count : NVML_PIDS_MAX;
    for (unsigned i = 0; i < out->n_pids; i++)
        out->pids[i] = (pid_t)infos[i].pid;
    return SUCCESS;
}

int
nvml_look(const struct nvml *n, unsigned index, struct nvml_device *out,
          struct err *err)
{
    struct memory_info memory = {0};
    handle device = NULL;
    int rc = n->get_handle(index, &device);

    *out = (struct nvml_device){0};
    if (rc == SUCCESS)
        rc = n->get_memory(device, &memory);
    if (rc == SUCCESS)
        rc = n->get_uuid(device, out->uuid, sizeof out->uuid);
    if (rc == SUCCESS)
        rc = n->get_name(device, out->model, sizeof out->model);
    if (rc == SUCCESS)
        rc = list_processes(n, device, out);
    if (rc != SUCCESS)
        return err_set(err, ERR_SYSTEM, "GPU %u: %s", index, n->explain(rc));
    out->total = memory.total;
    out->used = memory.used;
    return 0;
}

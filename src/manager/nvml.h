/* SPDX-License-Identifier: MIT */
/* nvml.h - the GPUs of this machine, through the driver's own library, which
 * is loaded when it is needed.  One thread. */
#ifndef MANAGER_NVML_H
#define MANAGER_NVML_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct nvml;

/* Names a library to be used in the place of the driver's. */
#define NVML_ENV "TUNEPIPE_NVML"
#define NVML_PIDS_MAX 64

struct nvml_device {
    uint64_t total, used;      /* bytes of its memory */
    char uuid[96];             /* "GPU-..." */
    char model[96];            /* "NVIDIA A100-SXM4-40GB" */
    pid_t pids[NVML_PIDS_MAX]; /* that compute on it */
    size_t n_pids;
};

/* NULL: there is no such library, or it does not work, and why. */
struct nvml *nvml_open(struct err *err);
void nvml_close(struct nvml *n);

/* How many there are, with indices from 0 in the order of the bus. */
unsigned nvml_count(const struct nvml *n);
int nvml_look(const struct nvml *n, unsigned index, struct nvml_device *out,
              struct err *err);

#endif

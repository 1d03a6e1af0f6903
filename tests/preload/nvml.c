/* SPDX-License-Identifier: MIT */
/* A library such as NVIDIA's driver brings, with the devices that the file
 * $FAKE_NVML names, one a line, read anew by each call:
 *
 *   MIB_TOTAL MIB_USED PID... [# MODEL]
 *
 * Loaded by its name, in the place of the driver's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES_MAX 8
#define UNKNOWN_ERROR 999
#define PUBLIC __attribute__((visibility("default")))

struct memory_info {
    unsigned long long total, free, used;
};

struct process_info {
    unsigned pid;
    unsigned long long used;
};

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetCount_v2(unsigned *out);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **out);
int nvmlDeviceGetMemoryInfo(void *device, struct memory_info *out);
int nvmlDeviceGetUUID(void *device, char *out, unsigned len);
int nvmlDeviceGetName(void *device, char *out, unsigned len);
int nvmlDeviceGetComputeRunningProcesses(void *device, unsigned *count,
                                         struct process_info *out);
const char *nvmlErrorString(int rc);

/* Line `index`, or the number of lines. */
static int
read_line(unsigned index, char *out, int size)
{
    const char *path = getenv("FAKE_NVML");
    FILE *file = path != NULL ? fopen(path, "r") : NULL;
    unsigned i = 0;

    if (file == NULL)
        return -1;
    for (; fgets(out, size, file) != NULL; i++)
        if (i == index)
            break;
    fclose(file);
    return (int)i;
}

PUBLIC int
nvmlInit_v2(void)
{
    char line[1024];

    return read_line(DEVICES_MAX, line, sizeof line) < 0 ? UNKNOWN_ERROR : 0;
}

PUBLIC int
nvmlShutdown(void)
{
    return 0;
}

PUBLIC int
nvmlDeviceGetCount_v2(unsigned *out)
{
    char line[1024];

    *out = (unsigned)read_line(DEVICES_MAX, line, sizeof line);
    return 0;
}

PUBLIC int
nvmlDeviceGetHandleByIndex_v2(unsigned index, void **out)
{
    static char names[DEVICES_MAX];

    *out = &names[index];
    names[index] = (char)index;
    return 0;
}

static unsigned
index_of(void *device)
{
    return (unsigned)*(char *)device;
}

PUBLIC int
nvmlDeviceGetMemoryInfo(void *device, struct memory_info *out)
{
    char line[1024];

    if (read_line(index_of(device), line, sizeof line) < 0 ||
        sscanf(line, "%llu %llu", &out->total, &out->used) != 2)
        return UNKNOWN_ERROR;
    out->total <<= 20;
    out->used <<= 20;
    out->free = out->total - out->used;
    return 0;
}

PUBLIC int
nvmlDeviceGetUUID(void *device, char *out, unsigned len)
{
    snprintf(out, len, "GPU-fake-%u", index_of(device));
    return 0;
}

PUBLIC int
nvmlDeviceGetName(void *device, char *out, unsigned len)
{
    char line[1024], *mark;

    if (read_line(index_of(device), line, sizeof line) < 0)
        return UNKNOWN_ERROR;
    line[strcspn(line, "\n")] = '\0';
    mark = strstr(line, "# ");
    snprintf(out, len, "%s", mark != NULL ? mark + 2 : "Fake GPU");
    return 0;
}

PUBLIC int
nvmlDeviceGetComputeRunningProcesses(void *device, unsigned *count,
                                     struct process_info *out)
{
    char line[1024], *at = line, *end;
    unsigned n = 0, room = *count;

    if (read_line(index_of(device), line, sizeof line) < 0)
        return UNKNOWN_ERROR;
    for (int word = 0; n < room; word++) {
        long value = strtol(at, &end, 10);

        if (end == at)
            break;
        if (word >= 2)
            out[n++] = (struct process_info){(unsigned)value, 0};
        at = end;
    }
    *count = n;
    return 0;
}

PUBLIC const char *
nvmlErrorString(int rc)
{
    return rc == UNKNOWN_ERROR ? "unknown error" : "success";
}

/* SPDX-License-Identifier: MIT */
#include "manager/claim.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/number.h"
#include "trial/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX 65536
#define TEXT_MAX 2048

const char *
claim_devices(uint64_t devices, char *out, size_t size)
{
    size_t len = 0;

    out[0] = '\0';
    for (int i = 0; i < 64; i++)
        if (devices >> i & 1 && len < size)
            len += (size_t)snprintf(out + len, size - len, "%s%d",
                                    len > 0 ? "," : "", i);
    return out;
}

int
claim_write(const struct claim *c, const char *folder, struct err *err)
{
    char *path = file_join(folder, TRIAL_RESOURCES);
    char devices[256], text[TEXT_MAX];
    int len, rc;

    if (path == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    len = snprintf(text, sizeof text,
                   "memory %llu\ndevice_memory %llu\nkills_before %llu\n",
                   (unsigned long long)c->memory,
                   (unsigned long long)c->device_memory,
                   (unsigned long long)c->kills_before);
    if (c->managed)
        len += snprintf(
            text + len, sizeof text - (size_t)len, "devices %s\nalone %d\n",
            claim_devices(c->devices, devices, sizeof devices), c->alone);
    if (c->limit > 0)
        len += snprintf(text + len, sizeof text - (size_t)len,
                        "limit %llu\ncgroup %s\n", (unsigned long long)c->limit,
                        c->cgroup);
    rc = file_write_plain(path, text, (size_t)len, err);
    free(path);
    return rc;
}

static uint64_t
read_devices(const char *text)
{
    uint64_t set = 0;
    char *end;

    for (;;) {
        unsigned long index = strtoul(text, &end, 10);

        if (end == text || index >= 64)
            return set;
        set |= (uint64_t)1 << index;
        text = *end == ',' ? end + 1 : end;
    }
}

static void
read_line(struct claim *c, const char *line)
{
    const struct {
        const char *name;
        uint64_t *to;
    } numbers[] = {{"memory ", &c->memory},
                   {"device_memory ", &c->device_memory},
                   {"kills_before ", &c->kills_before},
                   {"limit ", &c->limit}};

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        size_t len = strlen(numbers[i].name);

        if (strncmp(line, numbers[i].name, len) == 0)
            number_parse_u64(line + len, strlen(line + len), numbers[i].to);
    }
    if (strncmp(line, "devices ", 8) == 0) {
        c->managed = true;
        c->devices = read_devices(line + 8);
    }
    if (strcmp(line, "alone 1") == 0)
        c->alone = true;
    if (strncmp(line, "cgroup ", 7) == 0)
        snprintf(c->cgroup, sizeof c->cgroup, "%s", line + 7);
}

bool
claim_read(struct claim *c, const char *folder)
{
    char *path = file_join(folder, TRIAL_RESOURCES), *rest, *line;
    struct buf text;
    bool there;

    *c = (struct claim){0};
    buf_init(&text, 4 * FILE_MAX);
    there = path != NULL && file_read_plain(path, FILE_MAX, &text, NULL) == 0;
    if (there) {
        buf_text(&text);
        rest = text.data;
        while ((line = strsep(&rest, "\n")) != NULL)
            read_line(c, line);
    }
    buf_fini(&text);
    free(path);
    return there;
}

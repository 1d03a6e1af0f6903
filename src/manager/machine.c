/* SPDX-License-Identifier: MIT */
#include "manager/machine.h"

#include "control/server.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "manager/cgroup.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define MEMINFO "/proc/meminfo"
#define VMSTAT "/proc/vmstat"
#define FILE_MAX 65536

/* The number behind the line's first word; 0: no such line. */
static uint64_t
find_number(const char *text, const char *word)
{
    size_t len = strlen(word);

    for (const char *at = text; at != NULL && *at != '\0';) {
        if (strncmp(at, word, len) == 0)
            return strtoull(at + len, NULL, 10);
        at = strchr(at, '\n');
        at = at != NULL ? at + 1 : NULL;
    }
    return 0;
}

int
machine_look(struct machine *out, struct err *err)
{
    const char *given = getenv(MACHINE_ENV);
    const char *path = given != NULL ? given : MEMINFO;
    struct buf text;
    int rc;

    buf_init(&text, 2 * FILE_MAX);
    rc = file_read(path, FILE_MAX, &text, err);
    if (rc == 0) {
        out->total = find_number(buf_text(&text), "MemTotal:") << 10;
        out->available = find_number(buf_text(&text), "MemAvailable:") << 10;
        if (out->total == 0 || out->available > out->total)
            rc = err_set(err, ERR_SYSTEM,
                         "%s: expected MemTotal and MemAvailable", path);
    }
    buf_fini(&text);
    if (rc == 0 && given == NULL)
        cgroup_bound(&out->total, &out->available);
    return rc;
}

uint64_t
machine_kills(void)
{
    struct buf text;
    uint64_t kills = 0;

    buf_init(&text, 4 * FILE_MAX);
    if (file_read(VMSTAT, FILE_MAX, &text, NULL) == 0)
        kills = find_number(buf_text(&text), "oom_kill ");
    buf_fini(&text);
    return kills;
}

/* ---- open files ---- */

#define FDS_PER_TRIAL 4 /* its files, beside its runner's */
#define FDS_BESIDES (32 + CONTROL_FDS_MAX)
#define FDS_PER_CLIENT 2 /* of a study: its connection, and its process */

static void
allow(struct rlimit *limit, rlim_t files)
{
    if (limit->rlim_cur >= files)
        return;
    limit->rlim_cur = files;
    setrlimit(RLIMIT_NOFILE, limit);
}

size_t
machine_allow_clients(size_t clients)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
        limit.rlim_max < FDS_BESIDES + FDS_PER_CLIENT * CONTROL_CLIENTS_MAX)
        return CONTROL_CLIENTS_MAX;
    if (clients > (limit.rlim_max - FDS_BESIDES) / FDS_PER_CLIENT)
        clients = (limit.rlim_max - FDS_BESIDES) / FDS_PER_CLIENT;
    allow(&limit, FDS_BESIDES + FDS_PER_CLIENT * clients);
    return clients;
}

int
machine_allow_files(uint64_t trials, unsigned runner, struct err *err)
{
    const unsigned each = FDS_PER_TRIAL + runner;
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 0; /* launching names the trouble */
    if (limit.rlim_max < FDS_BESIDES + each ||
        trials > (limit.rlim_max - FDS_BESIDES) / each)
        return err_set(err, ERR_CONFIG,
                       "trialConcurrency: %llu trials at a time need %u open "
                       "files each, and %d besides; this system allows %llu "
                       "(ulimit -Hn)",
                       (unsigned long long)trials, each, FDS_BESIDES,
                       (unsigned long long)limit.rlim_max);
    allow(&limit, trials * each + FDS_BESIDES);
    return 0;
}

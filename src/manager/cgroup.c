/* SPDX-License-Identifier: MIT */
/* DESIGN.  Version 2 has one rule more than version 1: a group that limits
 * memory for those below it holds no process itself.  So a manager that is
 * alone in a delegated group moves into one beside its trials'; one that
 * shares its group with others (a login shell, say) cannot, and limits are
 * kept by other means. */
#include "manager/cgroup.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX ((size_t)1 << 20)
#define MANAGER "manager" /* the group that a manager moves to */

/* What the two versions call it. */
static const struct names {
    const char *limit, *swap, *no_swap, *usage, *cache;
} names[] = {
    [1] = {"memory.limit_in_bytes", "memory.memsw.limit_in_bytes", NULL,
           "memory.usage_in_bytes", "total_inactive_file "},
    [2] = {"memory.max", "memory.swap.max", "0", "memory.current",
           "inactive_file "},
};

static bool
read_text(const char *folder, const char *name, struct buf *out)
{
    char *path = file_join(folder, name);
    bool ok = path != NULL && file_read(path, FILE_MAX, out, NULL) == 0;

    free(path);
    return ok;
}

static bool
has_word(const char *folder, const char *name, const char *word)
{
    struct buf text;
    char *rest, *at;
    bool found = false;

    buf_init(&text, 2 * FILE_MAX);
    if (read_text(folder, name, &text)) {
        buf_text(&text);
        rest = text.data;
        while ((at = strsep(&rest, " \n")) != NULL)
            found = found || strcmp(at, word) == 0;
    }
    buf_fini(&text);
    return found;
}

static int
write_text(const char *folder, const char *name, const char *text)
{
    char *path = file_join(folder, name);
    int fd = path == NULL ? -1 : open(path, O_WRONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));
    int why = errno;

    if (fd >= 0)
        close(fd);
    free(path);
    errno = why;
    return n < 0 ? -1 : 0;
}

/* Our group's path in the hierarchy: "0::PATH" or "N:memory:PATH". */
static bool
find_path(int version, char *out, size_t size)
{
    struct buf text;
    char *rest, *line, *path;
    bool found = false;

    buf_init(&text, 2 * FILE_MAX);
    if (read_text("/proc/self", "cgroup", &text)) {
        buf_text(&text);
        rest = text.data;
        while (!found && (line = strsep(&rest, "\n")) != NULL) {
            path = version == 2
                       ? (strncmp(line, "0::", 3) == 0 ? line + 3 : NULL)
                       : strstr(line, ":memory:");
            if (path == NULL)
                continue;
            snprintf(out, size, "%s", version == 2 ? path : path + 8);
            found = true;
        }
    }
    buf_fini(&text);
    return found;
}

/* A line of mountinfo: ID PARENT DEVICE ROOT POINT ... - TYPE SOURCE OPTIONS */
static bool
is_hierarchy(const char *line, int version, char *root, char *point)
{
    const char *dash = strstr(line, " - ");

    if (dash == NULL ||
        sscanf(line, "%*s %*s %*s %511s %511s", root, point) != 2)
        return false;
    return version == 2 ? strncmp(dash, " - cgroup2 ", 11) == 0
                        : strncmp(dash, " - cgroup ", 10) == 0 &&
                              strstr(dash, "memory") != NULL;
}

static bool
find_mount(int version, char *root, char *point)
{
    struct buf text;
    char *rest, *line;
    bool found = false;

    buf_init(&text, 2 * FILE_MAX);
    if (read_text("/proc/self", "mountinfo", &text)) {
        buf_text(&text);
        rest = text.data;
        while (!found && (line = strsep(&rest, "\n")) != NULL)
            found = is_hierarchy(line, version, root, point);
    }
    buf_fini(&text);
    return found;
}

/* The folder of the group we are in; *top: how long its mount point is. */
static bool
find_own(int version, char out[CGROUP_PATH_MAX], size_t *top)
{
    char root[CGROUP_PATH_MAX], point[CGROUP_PATH_MAX], path[CGROUP_PATH_MAX];
    const char *below = path;
    size_t len;

    if (!find_path(version, path, sizeof path) ||
        !find_mount(version, root, point))
        return false;
    len = strcmp(root, "/") == 0 ? 0 : strlen(root);
    if (strncmp(path, root, len) == 0)
        below = path + len;
    if (strcmp(below, "/") == 0)
        below = "";
    *top = strlen(point);
    return (size_t)snprintf(out, CGROUP_PATH_MAX, "%s%s", point, below) <
           CGROUP_PATH_MAX;
}

/* Nobody but us may be in OWN: we go to FOLDER/manager. */
static int
move_and_enable(const char *own, const char *folder)
{
    char mine[CGROUP_PATH_MAX + 16], pid[24];
    int why;

    snprintf(mine, sizeof mine, "%s/" MANAGER, folder);
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    if (mkdir(mine, 0755) != 0 && errno != EEXIST)
        return -1;
    if (write_text(mine, "cgroup.procs", pid) == 0 &&
        write_text(own, "cgroup.subtree_control", "+memory") == 0)
        return 0;
    why = errno;
    write_text(own, "cgroup.procs", pid);
    rmdir(mine);
    errno = why;
    return -1;
}

/* OWN lets FOLDER, and that its own, limit memory. */
static int
enable(const char *own, const char *folder, struct err *err)
{
    if (!has_word(own, "cgroup.controllers", "memory"))
        return err_set(err, ERR_SYSTEM, "%s: memory is not delegated", own);
    if (!has_word(own, "cgroup.subtree_control", "memory") &&
        write_text(own, "cgroup.subtree_control", "+memory") != 0 &&
        (errno != EBUSY || move_and_enable(own, folder) != 0))
        return errno == EBUSY
                   ? err_set(err, ERR_SYSTEM,
                             "%s is shared with other processes (alone: "
                             "systemd-run --user --scope -p Delegate=yes)",
                             own)
                   : err_errno(err, ERR_SYSTEM, "%s/cgroup.subtree_control",
                               own);
    if (write_text(folder, "cgroup.subtree_control", "+memory") != 0)
        return err_errno(err, ERR_SYSTEM, "%s/cgroup.subtree_control", folder);
    return 0;
}

static int
open_version(struct cgroup *g, int version, const char *name, struct err *err)
{
    char own[CGROUP_PATH_MAX];
    size_t top;

    if (!find_own(version, own, &top))
        return err_set(err, ERR_SYSTEM, "there is none");
    if ((size_t)snprintf(g->folder, sizeof g->folder, "%s/tunepipe-%s", own,
                         name) >= sizeof g->folder)
        return err_set(err, ERR_SYSTEM, "%s: path too long", own);
    if (version == 1 && access(own, W_OK) != 0)
        return err_errno(err, ERR_SYSTEM, "%s", own);
    if (mkdir(g->folder, 0755) != 0 && errno != EEXIST)
        return err_errno(err, ERR_SYSTEM, "%s", g->folder);
    g->version = version;
    if (version == 1 || enable(own, g->folder, err) == 0)
        return 0;
    rmdir(g->folder);
    g->version = 0;
    return -1;
}

int
cgroup_open(struct cgroup *g, const char *name, struct err *err)
{
    struct err second = {0}, first = {0};

    *g = (struct cgroup){0};
    if (open_version(g, 2, name, &second) == 0 ||
        open_version(g, 1, name, &first) == 0)
        return 0;
    return err_set(err, ERR_SYSTEM, "version 2: %.200s; version 1: %.200s",
                   second.text, first.text);
}

void
cgroup_remove(const char *folder)
{
    rmdir(folder);
}

/* Whoever is left in it, adopted trials say, keeps it. */
void
cgroup_close(struct cgroup *g)
{
    if (g->version != 0)
        rmdir(g->folder);
    g->version = 0;
}

int
cgroup_make(const struct cgroup *g, const char *name, uint64_t limit,
            char out[CGROUP_PATH_MAX], struct err *err)
{
    const struct names *n = &names[g->version];
    char number[24];

    if ((size_t)snprintf(out, CGROUP_PATH_MAX, "%s/%s", g->folder, name) >=
        CGROUP_PATH_MAX)
        return err_set(err, ERR_SYSTEM, "%s: path too long", g->folder);
    if (mkdir(out, 0755) != 0 && errno != EEXIST)
        return err_errno(err, ERR_SYSTEM, "%s: cannot make the group", out);
    snprintf(number, sizeof number, "%llu", (unsigned long long)limit);
    if (write_text(out, n->limit, number) != 0) {
        err_errno(err, ERR_SYSTEM, "%s/%s", out, n->limit);
        rmdir(out);
        return -1;
    }
    /* Where swap is not counted there is no such file. */
    write_text(out, n->swap, n->no_swap != NULL ? n->no_swap : number);
    return 0;
}

static bool
read_number(const char *folder, const char *name, uint64_t *out)
{
    struct buf text;
    bool ok;

    buf_init(&text, 2 * FILE_MAX);
    ok = read_text(folder, name, &text) && text.len > 0 &&
         text.data[0] >= '0' && text.data[0] <= '9'; /* "max": no limit */
    if (ok)
        *out = strtoull(buf_text(&text), NULL, 10);
    buf_fini(&text);
    return ok;
}

/* File pages that can be dropped: used, and yet to be had. */
static uint64_t
read_cache(const char *folder, const char *word)
{
    uint64_t bytes = 0;
    struct buf text;
    char *rest, *line;

    buf_init(&text, 2 * FILE_MAX);
    if (read_text(folder, "memory.stat", &text)) {
        buf_text(&text);
        rest = text.data;
        while ((line = strsep(&rest, "\n")) != NULL)
            if (strncmp(line, word, strlen(word)) == 0)
                bytes = strtoull(line + strlen(word), NULL, 10);
    }
    buf_fini(&text);
    return bytes;
}

static void
bound_by(const char *folder, const struct names *n, uint64_t *total,
         uint64_t *available)
{
    uint64_t limit, usage, cache;

    if (!read_number(folder, n->limit, &limit) || limit >= *total ||
        !read_number(folder, n->usage, &usage))
        return;
    *total = limit;
    cache = read_cache(folder, n->cache);
    usage -= cache < usage ? cache : usage;
    limit -= usage < limit ? usage : limit;
    if (limit < *available)
        *available = limit;
}

void
cgroup_bound(uint64_t *total, uint64_t *available)
{
    char folder[CGROUP_PATH_MAX];
    size_t top, len;

    for (int version = 1; version <= 2; version++) {
        if (!find_own(version, folder, &top))
            continue;
        for (len = strlen(folder); len >= top && len > 0;) {
            bound_by(folder, &names[version], total, available);
            while (len > 0 && folder[--len] != '/')
                ;
            folder[len] = '\0';
        }
    }
}

/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * While a log is read, its writer may seal command.log and begin another, and
 * old segments may be compressed.  So command.log is opened first, and stays
 * open, whatever it is called later; its number tells which segments come
 * before it; and an old one is looked for as it is, then compressed, for a
 * moment both. */
#include "dispatcher/logchain.h"

#include "core/err.h"
#include "dispatcher/commandlog.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRIES 100         /* while it is being written */
#define LEAPS_MAX 1000000 /* segments that were begun between two looks */

/* ---- opening ---- */

/* "" and "command.log": the folder, to be freed; NULL: it is called otherwise
 * (*memory: or there is none). */
static char *
folder_of(const char *path, bool *memory)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    char *folder = NULL;

    *memory = true;
    if (strcmp(name, COMMANDLOG_NAME) != 0)
        return NULL;
    folder = slash == NULL
                 ? strdup(".")
                 : strndup(path, slash == path ? 1 : (size_t)(slash - path));
    *memory = folder != NULL;
    return folder;
}

static int
no_memory(const struct logchain *c, struct err *err)
{
    return err_set(err, ERR_MEMORY, "%s: out of memory", c->path);
}

/* The last map and what comes before it.  1: it was replaced meanwhile. */
static int
find(struct logchain *c, struct logmap **last, struct err *err)
{
    *last = logmap_open(c->path, err);
    if (*last == NULL)
        return -1;
    c->last = c->first = (*last)->head.number;
    if (c->folder == NULL)
        return 0;
    c->first = segments_first(c->folder, c->last, err);
    if (c->first != 0)
        return 0;
    return logmap_is(*last, c->path) ? -1 : 1;
}

int
logchain_open(struct logchain *c, const char *path, struct err *err)
{
    struct logmap *last = NULL;
    bool memory;
    int rc = 1;

    *c = (struct logchain){.path = strdup(path)};
    c->folder = folder_of(path, &memory);
    if (c->path == NULL || !memory)
        return err_set(err, ERR_MEMORY, "%s: out of memory", path);
    for (int i = 0; rc == 1 && i < TRIES; i++) {
        logmap_close(last);
        rc = find(c, &last, err);
    }
    if (rc == 0) {
        c->maps =
            calloc((size_t)(c->last - c->first) + 1, sizeof(struct logmap *));
        rc = c->maps == NULL ? no_memory(c, err) : 0;
    }
    if (rc == 0)
        c->maps[c->last - c->first] = last;
    else
        logmap_close(last);
    return rc == 0 ? 0 : -1;
}

void
logchain_close(struct logchain *c)
{
    for (uint64_t i = 0; c->maps != NULL && i <= c->last - c->first; i++)
        logmap_close(c->maps[i]);
    free(c->maps);
    free(c->folder);
    free(c->path);
}

/* ---- one of them ---- */

int
logchain_head(const struct logchain *c, uint64_t n, struct segment_head *out,
              struct err *err)
{
    static const enum segment_file files[] = {SEGMENT_PLAIN, SEGMENT_GZ};
    const struct logmap *open = c->maps[n - c->first];
    int rc = 0;

    if (open != NULL) {
        *out = open->head;
        return 0;
    }
    for (int i = 0; i < 2 && rc == 0; i++) {
        char *path = segments_path(c->folder, n, files[i]);

        rc = path == NULL ? no_memory(c, err)
                          : logmap_peek(path, files[i], out, err);
        free(path);
    }
    if (rc == 0)
        return err_set(err, ERR_LOG,
                       "%s: segment %" PRIu64 " is not there any more", c->path,
                       n);
    return rc > 0 ? 0 : -1;
}

static struct logmap *
open_packed(const struct logchain *c, uint64_t n, struct err *err)
{
    char *path = segments_path(c->folder, n, SEGMENT_GZ);
    struct logmap *m = NULL;
    struct segment_head next;

    if (path == NULL)
        no_memory(c, err);
    else if (logchain_head(c, n + 1, &next, err) == 0)
        m = logmap_unpack(path, c->folder, next.bytes, err);
    free(path);
    return m;
}

static struct logmap *
open_old(const struct logchain *c, uint64_t n, struct err *err)
{
    char *path = segments_path(c->folder, n, SEGMENT_PLAIN);
    struct logmap *m = NULL;
    struct segment_head head;

    if (path == NULL) {
        no_memory(c, err);
        return NULL;
    }
    switch (logmap_peek(path, SEGMENT_PLAIN, &head, err)) {
    case 0:
        m = open_packed(c, n, err);
        break;
    case 1:
        m = logmap_open(path, err);
        if (m == NULL && access(path, F_OK) != 0)
            m = open_packed(c, n, err); /* it was compressed just now */
        break;
    }
    free(path);
    if (m == NULL || (m->head.number == n && m->head.head.size > 0))
        return m;
    err_set(err, ERR_LOG,
            "%s: expected to begin as segment %" PRIu64 " of the log", m->path,
            n);
    logmap_close(m);
    return NULL;
}

struct logmap *
logchain_get(struct logchain *c, uint64_t n, struct err *err)
{
    struct logmap **m = &c->maps[n - c->first];

    if (*m == NULL)
        *m = open_old(c, n, err);
    if (*m != NULL)
        (*m)->freed = 0;
    return *m;
}

void
logchain_leave(struct logchain *c, uint64_t n)
{
    struct logmap **m = &c->maps[n - c->first];

    if (*m == NULL)
        return;
    if (c->keep || n == c->last) {
        logmap_give_back(*m, (*m)->len);
    } else {
        logmap_close(*m);
        *m = NULL;
    }
}

/* ---- a log that is being written ---- */

/* What was the last is now called as the old ones are. */
static int
rename_last(struct logchain *c, struct err *err)
{
    struct logmap *m = c->maps[c->last - c->first];
    char *path = segments_path(c->folder, c->last, SEGMENT_PLAIN);

    if (path == NULL)
        return no_memory(c, err);
    free(m->path);
    m->path = path;
    return 0;
}

/* Takes `m`. */
static int
append(struct logchain *c, struct logmap *m, struct err *err)
{
    uint64_t n = m->head.number;
    struct logmap **maps = NULL;

    if (n <= c->last || n - c->last > LEAPS_MAX) {
        logmap_close(m);
        return err_set(err, ERR_LOG,
                       "%s: is segment %" PRIu64 " now, expected a later one "
                       "than %" PRIu64,
                       c->path, n, c->last);
    }
    maps = calloc((size_t)(n - c->first) + 1, sizeof(struct logmap *));
    if (maps == NULL || rename_last(c, err) != 0) {
        free(maps);
        logmap_close(m);
        return no_memory(c, err);
    }
    memcpy(maps, c->maps,
           (size_t)(c->last - c->first + 1) * sizeof(struct logmap *));
    free(c->maps);
    c->maps = maps;
    maps[n - c->first] = m;
    c->last = n;
    return 1;
}

int
logchain_grow(struct logchain *c, struct err *err)
{
    struct logmap *last = c->maps[c->last - c->first], *m;
    int rc = logmap_grow(last, err);

    if (rc != 0 || c->folder == NULL || logmap_is(last, c->path))
        return rc;
    rc = logmap_grow(last, err); /* what came just before it was sealed */
    if (rc != 0)
        return rc;
    m = logmap_open(c->path, err);
    return m == NULL ? -1 : append(c, m, err);
}

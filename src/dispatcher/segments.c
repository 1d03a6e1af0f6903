/* SPDX-License-Identifier: MIT */
#include "dispatcher/segments.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/number.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "command."
#define NEW ".new"

static const char *const endings[] = {
    [SEGMENT_PLAIN] = ".log",
    [SEGMENT_GZ] = ".log.gz",
    [SEGMENT_SNAPSHOT] = ".snapshot",
};

/* ---- names ---- */

char *
segments_path(const char *folder, uint64_t n, enum segment_file file)
{
    char name[64];

    snprintf(name, sizeof name, PREFIX "%" PRIu64 "%s", n, endings[file]);
    return file_join(folder, name);
}

/* 0: that is no such file's name. */
static uint64_t
number_of(const char *name, enum segment_file file)
{
    size_t len = strlen(name), before = strlen(PREFIX);
    size_t behind = strlen(endings[file]);
    uint64_t n;

    if (len <= before + behind || memcmp(name, PREFIX, before) != 0 ||
        strcmp(name + len - behind, endings[file]) != 0 ||
        name[before] == '0' ||
        !number_parse_u64(name + before, len - before - behind, &n))
        return 0;
    return n;
}

bool
segments_is_unfinished(const char *name)
{
    size_t len = strlen(name), suffix = strlen(NEW);
    char whole[64];

    if (len <= suffix || len - suffix >= sizeof whole ||
        strcmp(name + len - suffix, NEW) != 0)
        return false;
    memcpy(whole, name, len - suffix);
    whole[len - suffix] = '\0';
    return strcmp(whole, PREFIX "log") == 0 ||
           number_of(whole, SEGMENT_GZ) != 0 ||
           number_of(whole, SEGMENT_SNAPSHOT) != 0;
}

struct numbers {
    uint64_t *at;
    size_t n, cap;
};

static int
add(struct numbers *list, uint64_t n)
{
    if (list->n == list->cap) {
        size_t cap = list->cap == 0 ? 16 : 2 * list->cap;
        void *grown = realloc(list->at, cap * sizeof *list->at);

        if (grown == NULL)
            return -1;
        list->at = grown;
        list->cap = cap;
    }
    list->at[list->n++] = n;
    return 0;
}

static int
compare(const void *va, const void *vb)
{
    uint64_t a = *(const uint64_t *)va, b = *(const uint64_t *)vb;

    return (a > b) - (a < b);
}

int
segments_list(const char *folder, enum segment_file file, uint64_t **out,
              size_t *n, struct err *err)
{
    struct numbers list = {NULL, 0, 0};
    const struct dirent *e;
    DIR *dir = opendir(folder);
    int rc = 0;

    *out = NULL;
    *n = 0;
    if (dir == NULL)
        return err_errno(err, ERR_LOG, "%s: cannot open", folder);
    while (rc == 0 && (e = readdir(dir)) != NULL) {
        uint64_t number = number_of(e->d_name, file);

        if (number != 0 && add(&list, number) != 0)
            rc = err_set(err, ERR_MEMORY, "%s: out of memory", folder);
    }
    closedir(dir);
    if (rc != 0) {
        free(list.at);
        return -1;
    }
    if (list.n > 0)
        qsort(list.at, list.n, sizeof *list.at, compare);
    *out = list.at;
    *n = list.n;
    return 0;
}

/* ---- the chain ---- */

static int
missing(const char *folder, uint64_t n, const char *why, struct err *err)
{
    char *path = segments_path(folder, n, SEGMENT_PLAIN);

    err_set(err, ERR_LOG, "%s: missing: %s", path == NULL ? folder : path, why);
    free(path);
    return -1;
}

static bool
has(const uint64_t *list, size_t n, uint64_t number)
{
    return n > 0 && bsearch(&number, list, n, sizeof *list, compare) != NULL;
}

/* What a rotation that was cut off left: another name of command.log. */
static bool
is_active(const char *folder, uint64_t n)
{
    char *log = file_join(folder, PREFIX "log");
    char *path = segments_path(folder, n, SEGMENT_PLAIN);
    struct stat a, b;
    bool same = log != NULL && path != NULL && stat(log, &a) == 0 &&
                stat(path, &b) == 0 && a.st_dev == b.st_dev &&
                a.st_ino == b.st_ino;

    free(log);
    free(path);
    return same;
}

static int
check_list(const char *folder, uint64_t first, uint64_t active,
           const uint64_t *list, size_t n, struct err *err)
{
    uint64_t newest = n > 0 ? list[n - 1] : 0;
    char why[80];

    if (newest >= active && !(newest == active && is_active(folder, newest)))
        return err_set(err, ERR_LOG,
                       "%s/" PREFIX "log: offset 0: begins as segment %" PRIu64
                       " of a log, expected %" PRIu64 " or later: segment "
                       "%" PRIu64 " is there, too",
                       folder, active, newest + 1, newest);
    if (n == 0 || list[0] >= first)
        return 0;
    snprintf(why, sizeof why,
             "it lies between segments %" PRIu64 " and %" PRIu64, list[0],
             first);
    return missing(folder, first - 1, why, err);
}

/* Both kinds; *first gets the number where the chain begins. */
static int
walk_back(const char *folder, uint64_t active, const uint64_t *const lists[2],
          const size_t n[2], uint64_t *first, struct err *err)
{
    *first = active;
    while (*first > 1 &&
           (has(lists[0], n[0], *first - 1) || has(lists[1], n[1], *first - 1)))
        --*first;
    for (int i = 0; i < 2; i++)
        if (check_list(folder, *first, active, lists[i], n[i], err) != 0)
            return -1;
    return 0;
}

/* Nothing before `first` is there. */
static int
stands_for(const char *folder, uint64_t first, uint64_t active, struct err *err)
{
    uint64_t *snapshots;
    size_t n;
    bool stands = false;

    if (segments_list(folder, SEGMENT_SNAPSHOT, &snapshots, &n, err) != 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        stands = stands || (snapshots[i] + 1 >= first && snapshots[i] < active);
    free(snapshots);
    if (stands)
        return 0;
    return missing(folder, first - 1, "no snapshot stands for it", err);
}

char *
segments_any(const char *folder)
{
    static const enum segment_file files[] = {SEGMENT_PLAIN, SEGMENT_GZ,
                                              SEGMENT_SNAPSHOT};
    char *path = NULL;

    for (size_t i = 0; path == NULL && i < sizeof files / sizeof *files; i++) {
        uint64_t *numbers;
        size_t n;

        if (segments_list(folder, files[i], &numbers, &n, NULL) != 0)
            return NULL;
        if (n > 0)
            path = segments_path(folder, numbers[0], files[i]);
        free(numbers);
    }
    return path;
}

/* The oldest are dropped first. */
bool
segments_complete(const char *folder)
{
    static const enum segment_file files[] = {SEGMENT_PLAIN, SEGMENT_GZ};
    bool there = false;

    for (size_t i = 0; i < 2; i++) {
        char *path = segments_path(folder, 1, files[i]);

        there = there || (path != NULL && access(path, F_OK) == 0);
        free(path);
    }
    return there;
}

uint64_t
segments_first(const char *folder, uint64_t active, struct err *err)
{
    uint64_t *lists[2] = {NULL, NULL};
    uint64_t first = 0;
    size_t n[2];
    int rc = active == 1 ? access(folder, R_OK) : 0;

    if (rc != 0)
        return 1; /* the folder tells nothing, and nothing was asked */
    rc = -1;

    if (segments_list(folder, SEGMENT_PLAIN, &lists[0], &n[0], err) == 0 &&
        segments_list(folder, SEGMENT_GZ, &lists[1], &n[1], err) == 0)
        rc = walk_back(folder, active, (const uint64_t *const *)lists, n,
                       &first, err);
    free(lists[0]);
    free(lists[1]);
    if (rc == 0 && first > 1)
        rc = stands_for(folder, first, active, err);
    return rc == 0 ? first : 0;
}

/* ---- how a segment begins ---- */

/* "2 17 4096" */
static int
read_payload(const struct record *g, struct segment_head *out, struct err *err)
{
    uint64_t *const numbers[] = {&out->number, &out->frames, &out->bytes};
    const char *at = g->payload, *end = at + g->len;

    for (int i = 0; i < 3; i++) {
        const char *space = memchr(at, ' ', (size_t)(end - at));
        const char *stop = i < 2 ? space : end;

        if (stop == NULL ||
            !number_parse_u64(at, (size_t)(stop - at), numbers[i]))
            return err_set(err, ERR_LOG,
                           "segment record: expected three numbers: this "
                           "segment's, of frames and of bytes before it");
        at = stop + 1;
    }
    if (out->number < 2)
        return err_set(err, ERR_LOG,
                       "segment record: expected number 2 or more, not "
                       "%" PRIu64,
                       out->number);
    out->arrival = g->number;
    out->size += g->size;
    return 0;
}

int
segment_head_read(const char *bytes, size_t len, struct segment_head *out,
                  struct err *err)
{
    struct record g;

    *out = (struct segment_head){.number = 1};
    out->begin = out->size = record_read_version(bytes, len, err);
    if (out->size == 0)
        return -1;
    out->end = record_next(bytes + out->size, len - out->size, SIZE_MAX,
                           &out->head, NULL);
    if (out->end != RECORD_READY || out->head.kind != RECORD_HEAD) {
        out->head.size = 0;
        return 0;
    }
    out->size += out->head.size;
    out->end =
        record_next(bytes + out->size, len - out->size, SIZE_MAX, &g, NULL);
    return out->end == RECORD_READY && g.kind == RECORD_SEGMENT
               ? read_payload(&g, out, err)
               : 0;
}

void
segment_head_write(const struct segment_head *h, int64_t time_us,
                   struct buf *out)
{
    char payload[80];
    int len =
        snprintf(payload, sizeof payload, "%" PRIu64 " %" PRIu64 " %" PRIu64,
                 h->number, h->frames, h->bytes);

    record_write_version(out);
    record_encode(out, RECORD_HEAD, 0, h->head.time_us, h->head.payload,
                  h->head.len);
    record_encode(out, RECORD_SEGMENT, h->arrival, time_us, payload,
                  (size_t)len);
}

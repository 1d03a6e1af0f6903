/* SPDX-License-Identifier: MIT */
#include "log/segments.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/grow.h"
#include "core/gzip.h"
#include "core/number.h"
#include "log/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* DESIGN.  Old segments are retired the oldest first, and each step is on
 * stable storage before the next: whenever the work is cut off, what is left is
 * a chain without a gap.  A compressed segment is unpacked for a check before
 * the plain one is removed. */

#define PREFIX "command." /* begins the names of all files of a log */
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

/* The number in a file's name; 0: it is no name of such a file. */
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

/* Whether the name is that of a temporary file, which is renamed when it is
 * whole. */
static bool
is_unfinished(const char *name)
{
    size_t len = strlen(name), suffix = strlen(NEW);
    char whole[64];

    if (len <= suffix || len - suffix >= sizeof whole ||
        strcmp(name + len - suffix, NEW) != 0)
        return false;
    memcpy(whole, name, len - suffix);
    whole[len - suffix] = '\0';
    return strcmp(whole, LOG_NAME) == 0 || number_of(whole, SEGMENT_GZ) != 0 ||
           number_of(whole, SEGMENT_SNAPSHOT) != 0;
}

struct numbers {
    uint64_t *at;
    size_t n, cap;
};

static int
add(struct numbers *list, uint64_t n)
{
    if (GROW(list->at, list->n, list->cap) != 0)
        return -1;
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

/* Whether segment n is another name of command.log, left by a rotation that was
 * cut off. */
static bool
is_active(const char *folder, uint64_t n)
{
    char *log = file_join(folder, LOG_NAME);
    char *path = segments_path(folder, n, SEGMENT_PLAIN);
    bool same = log != NULL && path != NULL && file_is_same(log, path);

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
                       "%" PRIu64 " is there, too; where its head is damaged, "
                       "the log goes on from that one, renamed to " LOG_NAME,
                       folder, active, newest + 1, newest);
    if (n == 0 || list[0] >= first)
        return 0;
    snprintf(why, sizeof why,
             "it lies between segments %" PRIu64 " and %" PRIu64, list[0],
             first);
    return missing(folder, first - 1, why, err);
}

/* Goes from the active segment back to where the chain begins, *first, through
 * plain and compressed segments (lists). */
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

/* Whether a snapshot stands for the segments before `first`, which are gone. */
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

/* the oldest segments are dropped first, so the first one tells for all */
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

/* Reads a segment record's payload, as in "2 17 4096". */
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

/* ---- its head, from a file ---- */

#define HEAD_LEAST ((size_t)4 << 10) /* how much of a file is read at first */

struct loading {
    struct buf *bytes;
    size_t next; /* how many bytes to wait for before the next try */
    struct segment_head *head;
    bool done;
};

/* Adds the next bytes of the file; 1: they are enough. */
static int
load_some(void *ctx, const void *data, size_t len, struct err *err)
{
    struct loading *l = ctx;

    buf_add(l->bytes, data, len);
    if (buf_check(l->bytes, "its head", err) != 0)
        return -1;
    if (l->bytes->len < l->next)
        return 0;
    l->next = 2 * l->bytes->len;
    if (segment_head_read(l->bytes->data, l->bytes->len, l->head, err) != 0)
        return -1;
    l->done = l->head->end != RECORD_PARTIAL;
    return l->done;
}

static int
load_plain(int fd, struct loading *l, struct err *err)
{
    char bytes[HEAD_LEAST];
    int rc = 0;

    while (rc == 0) {
        ssize_t n = read(fd, bytes, sizeof bytes);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(err, ERR_LOG, "cannot read");
        if (n == 0)
            break;
        rc = load_some(l, bytes, (size_t)n, err);
    }
    return rc < 0 ? -1 : 0;
}

int
segment_head_load(const char *path, enum segment_file file, struct buf *bytes,
                  struct segment_head *out, struct err *err)
{
    struct loading l = {.bytes = bytes, .next = HEAD_LEAST, .head = out};
    int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

    if (fd < 0)
        return errno == ENOENT
                   ? 0
                   : err_errno(err, ERR_LOG, "%s: cannot open", path);
    rc = file == SEGMENT_GZ
             ? gzip_unpack(fd, SEGMENT_HEAD_MAX, load_some, &l, err)
             : load_plain(fd, &l, err);
    close(fd);
    if (rc == 0 && !l.done) /* the file is shorter than what is read at first */
        rc = segment_head_read(buf_text(bytes), bytes->len, out, err);
    return rc == 0 ? 1 : err_place(err, "%s", path);
}

/* ---- retiring: steps ---- */

static int
no_memory(struct err *err)
{
    return err_set(err, ERR_MEMORY, "old segments: out of memory");
}

/* Removes a file; one that does not exist counts as removed. */
static int
remove_file(const char *path, const struct logio *io, struct err *err)
{
    if (path == NULL)
        return no_memory(err);
    if (io->unlink(path) == 0 || errno == ENOENT)
        return 0;
    return err_errno(err, ERR_LOG, "%s: cannot remove", path);
}

static int
sync_folder(const char *folder, const struct logio *io, struct err *err)
{
    errno = logio_sync_folder(io, folder);
    return errno == 0 ? 0 : err_errno(err, ERR_LOG, "%s: cannot sync", folder);
}

/* ---- mending ---- */

static int
mend_one(const char *folder, const char *log, uint64_t n, struct err *err)
{
    char *plain = segments_path(folder, n, SEGMENT_PLAIN);
    int rc = plain == NULL ? no_memory(err) : 0;

    if (rc == 0 && file_is_same(plain, log))
        rc = remove_file(plain, &logio_system, err);
    free(plain);
    return rc;
}

/* Removes all temporary files, of any segment: the segment itself may be
 * gone. */
static int
remove_unfinished(const char *folder, struct err *err)
{
    DIR *dir = opendir(folder);
    const struct dirent *e;
    int rc = 0;

    while (dir != NULL && rc == 0 && (e = readdir(dir)) != NULL) {
        char *path;

        if (!is_unfinished(e->d_name))
            continue;
        path = file_join(folder, e->d_name);
        rc = remove_file(path, &logio_system, err);
        free(path);
    }
    if (dir != NULL)
        closedir(dir);
    return rc;
}

int
segments_mend(const char *folder, struct err *err)
{
    char *log = file_join(folder, LOG_NAME);
    uint64_t *numbers = NULL;
    size_t n = 0;
    int rc = log == NULL ? no_memory(err) : remove_unfinished(folder, err);

    /* A folder that cannot be read is an error for those who need its
     * segments. */
    if (rc == 0 &&
        segments_list(folder, SEGMENT_PLAIN, &numbers, &n, NULL) != 0)
        n = 0;
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = mend_one(folder, log, numbers[i], err);
    free(numbers);
    free(log);
    return rc;
}

/* ---- moving ---- */

static int
move_file(const char *from, const char *to, const char *name, struct err *err)
{
    char *old = file_join(from, name), *now = file_join(to, name);
    int rc = 0;

    if (old == NULL || now == NULL)
        rc = err_set(err, ERR_MEMORY, "%s: out of memory", from);
    else if (rename(old, now) != 0)
        rc = err_errno(err, ERR_LOG, "%s: cannot be moved to %s", old, to);
    free(old);
    free(now);
    return rc;
}

int
segments_move(const char *from, const char *to, struct err *err)
{
    DIR *dir = opendir(from);
    const struct dirent *entry;
    bool active = false; /* false: there are sealed segments alone */
    int rc = 0;

    if (dir == NULL)
        return err_errno(err, ERR_LOG, "%s", from);
    while (rc == 0 && (entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, LOG_NAME) == 0)
            active = true;
        else if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0)
            rc = move_file(from, to, entry->d_name, err);
    }
    closedir(dir);
    return rc == 0 && active ? move_file(from, to, LOG_NAME, err) : rc;
}

/* ---- compressing ---- */

struct packing {
    const struct logio *io;
    int fd;
    off_t at;
    /* Content of the packed file, counted by unpacking it again. */
    uint64_t bytes;
};

static int
take_packed(void *ctx, const void *data, size_t len, struct err *err)
{
    struct packing *p = ctx;

    errno = logio_write(p->io, p->fd, data, len, p->at, &p->at);
    return errno == 0 ? 0 : err_errno(err, ERR_LOG, "cannot write");
}

static int
take_back(void *ctx, const void *data, size_t len, struct err *err)
{
    struct packing *p = ctx;

    (void)data;
    (void)err;
    p->bytes += len;
    return 0;
}

/* Compresses `from` into p->fd, checks that, and syncs it. */
static int
pack(struct packing *p, int from, struct err *err)
{
    struct stat st;

    if (fstat(from, &st) != 0)
        return err_errno(err, ERR_LOG, "cannot read");
    if (gzip_pack(from, take_packed, p, err) != 0 ||
        gzip_unpack(p->fd, (uint64_t)st.st_size, take_back, p, err) != 0)
        return -1;
    if (p->bytes != (uint64_t)st.st_size)
        return err_set(err, ERR_LOG, "holds %" PRIu64 " bytes, expected %lld",
                       p->bytes, (long long)st.st_size);
    errno = logio_sync(p->io, p->fd);
    return errno == 0 ? 0 : err_errno(err, ERR_LOG, "cannot sync");
}

static int
pack_file(const char *plain, const char *fresh, const struct logio *io,
          struct err *err)
{
    struct packing p = {.io = io, .fd = -1};
    int from = io->open(plain, O_RDONLY | O_CLOEXEC, 0), rc = -1;

    if (from < 0)
        return err_errno(err, ERR_LOG, "%s: cannot open", plain);
    p.fd = io->open(fresh, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (p.fd < 0)
        err_errno(err, ERR_LOG, "%s: cannot create", fresh);
    else if (pack(&p, from, err) != 0)
        err_place(err, "%s", fresh);
    else
        rc = 0;
    if (p.fd >= 0)
        close(p.fd);
    if (p.fd >= 0 && rc != 0)
        io->unlink(fresh);
    close(from);
    return rc;
}

static int
compress_one(const char *folder, uint64_t n, const struct logio *io,
             struct err *err)
{
    char *plain = segments_path(folder, n, SEGMENT_PLAIN);
    char *packed = segments_path(folder, n, SEGMENT_GZ);
    char *fresh = NULL;
    int rc;

    if (packed == NULL || asprintf(&fresh, "%s" NEW, packed) < 0)
        fresh = NULL;
    rc = plain == NULL || fresh == NULL ? no_memory(err)
                                        : remove_file(fresh, io, err);
    if (rc == 0)
        rc = pack_file(plain, fresh, io, err);
    if (rc == 0 && io->rename(fresh, packed) != 0) {
        rc = err_errno(err, ERR_LOG, "%s: cannot rename", fresh);
        io->unlink(fresh);
    }
    if (rc == 0)
        rc = sync_folder(folder, io, err);
    if (rc == 0)
        rc = remove_file(plain, io, err);
    free(plain);
    free(packed);
    free(fresh);
    return rc;
}

/* ---- dropping ---- */

static int
drop_one(const char *folder, uint64_t n, const struct logio *io,
         struct err *err)
{
    static const enum segment_file files[] = {SEGMENT_PLAIN, SEGMENT_GZ};
    int rc = 0;

    for (int i = 0; i < 2 && rc == 0; i++) {
        char *path = segments_path(folder, n, files[i]);

        rc = remove_file(path, io, err);
        free(path);
    }
    return rc == 0 ? sync_folder(folder, io, err) : -1;
}

/* Whether the snapshot that stands for the segments to be dropped exists. */
static int
need_snapshot(const char *folder, uint64_t upto, struct err *err)
{
    char *path = segments_path(folder, upto, SEGMENT_SNAPSHOT);
    int rc = path == NULL ? no_memory(err) : 0;

    if (rc == 0 && access(path, F_OK) != 0)
        rc = err_set(err, ERR_LOG,
                     "%s: missing: expected it before segments up to %" PRIu64
                     " are dropped",
                     path, upto);
    free(path);
    return rc;
}

/* ---- both ---- */

struct done {
    uint64_t first, last;
};

/* Applies `one` to the segments of one kind up to `upto`, `most` at once,
 * since a stop waits until it is done. */
static int
each(const char *folder, uint64_t upto, size_t most, enum segment_file file,
     int (*one)(const char *, uint64_t, const struct logio *, struct err *),
     const struct logio *io, struct done *done, struct err *err)
{
    uint64_t *numbers;
    size_t n;
    int rc = segments_list(folder, file, &numbers, &n, err);

    if (n > most)
        n = most;
    for (size_t i = 0; rc == 0 && i < n && numbers[i] <= upto; i++) {
        rc = one(folder, numbers[i], io, err);
        if (rc != 0)
            break;
        if (done->first == 0 || numbers[i] < done->first)
            done->first = numbers[i];
        if (numbers[i] > done->last)
            done->last = numbers[i];
    }
    free(numbers);
    return rc;
}

static void
say(const struct done *d, const char *what, char said[SEGMENTS_SAID_MAX])
{
    if (d->first == d->last)
        snprintf(said, SEGMENTS_SAID_MAX, "segment %" PRIu64 " %s", d->last,
                 what);
    else
        snprintf(said, SEGMENTS_SAID_MAX,
                 "segments %" PRIu64 " to %" PRIu64 " %s", d->first, d->last,
                 what);
}

static int
drop(const char *folder, uint64_t upto, const struct logio *io,
     char said[SEGMENTS_SAID_MAX], struct err *err)
{
    struct done done = {0, 0};
    char what[64];
    int rc = need_snapshot(folder, upto, err);

    /* compressed segments are older than plain ones */
    if (rc == 0)
        rc = each(folder, upto, SIZE_MAX, SEGMENT_GZ, drop_one, io, &done, err);
    if (rc == 0)
        rc = each(folder, upto, SIZE_MAX, SEGMENT_PLAIN, drop_one, io, &done,
                  err);
    snprintf(what, sizeof what, "dropped: snapshot %" PRIu64 " stands for %s",
             upto, done.first == done.last ? "it" : "them");
    if (done.last > 0)
        say(&done, what, said);
    return rc;
}

int
segments_forget(const char *folder, const struct logio *io, struct err *err)
{
    uint64_t *there;
    size_t n;
    int rc = 0;

    if (segments_list(folder, SEGMENT_SNAPSHOT, &there, &n, err) != 0)
        return -1;
    for (size_t i = 0; rc == 0 && i + 2 < n; i++) {
        char *path = segments_path(folder, there[i], SEGMENT_SNAPSHOT);

        rc = remove_file(path, io, err);
        free(path);
    }
    free(there);
    return rc;
}

int
segments_retire(const char *folder, uint64_t upto, enum old_segments policy,
                const struct logio *io, char said[SEGMENTS_SAID_MAX],
                struct err *err)
{
    struct done done = {0, 0};
    int rc = 0;

    if (io == NULL)
        io = &logio_system;
    said[0] = '\0';
    switch (policy) {
    case OLD_KEEP:
        break;
    case OLD_COMPRESS:
        rc = each(folder, upto, SEGMENTS_COMPRESS_MAX, SEGMENT_PLAIN,
                  compress_one, io, &done, err);
        if (done.last > 0)
            say(&done, "compressed", said);
        break;
    case OLD_DROP:
        rc = drop(folder, upto, io, said, err);
        break;
    }
    return rc;
}

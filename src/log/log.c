/* SPDX-License-Identifier: MIT */
#include "log/log.h"

#include "core/buf.h"
#include "core/crc32c.h"
#include "core/err.h"
#include "core/file.h"
#include "core/filesystem.h"
#include "core/gzip.h"
#include "core/number.h"
#include "log/lock.h"
#include "log/segments.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* DESIGN
 *
 * Each segment is mapped when it is read; a compressed one is unpacked into a
 * file without a name first.  Pages that were read are given back, so that a
 * log of any size is read in the same memory.  On a far file system a segment
 * is loaded instead (core/filesystem.h).
 *
 * While a log is read, its writer may seal command.log and begin another, and
 * old segments may be compressed.  So command.log is opened first, and stays
 * open, whatever it is called later; its number tells which segments come
 * before it; and an old one is looked for as it is, then compressed, for a
 * moment both.
 *
 * A segment that is not the last ends where the next one says, behind the
 * last arrival it says, and all have the same head: bytes that are lost
 * between two of them are found like bytes that are lost within one. */

/* bytes of a map that stay in memory, about */
#define KEPT ((size_t)16 << 20)
/* a file longer than that got beyond its head */
#define VOID_MAX ((size_t)8 << 20)
#define TRIES 100 /* to open a log while it is being written */
#define ASIDE_FOLDERS 10000
#define LEAPS_MAX 1000000 /* segments that were begun between two looks */

struct segment {
    char *path; /* of the file, as errors name it */
    int fd;
    const char *bytes; /* mapped; "" when empty */
    bool loaded;       /* not the file is mapped, but memory it was read into */
    size_t len;
    size_t freed; /* pages before this offset were given back to the system */
    bool is_void;
    struct segment_head head; /* of a void segment: all of it zero */
};

/* What the next segment must say of the segment before it. */
struct seam {
    bool known;
    uint64_t bytes, arrival;
    uint32_t head; /* checksum */
};

struct log_reader {
    char *path;   /* of the log, as it was given */
    char *folder; /* where its segments lie; NULL: the file is read alone */
    unsigned flags;
    bool optional; /* a missing file is no error */

    /* which segments there are */
    uint64_t first, last;
    struct segment **segments; /* by number, from `first` on; NULL: not open;
                                  the last one always is */
    /* where the reader is */
    uint64_t from; /* the offset of the first record to be read */
    bool headless; /* ... behind the head of that segment, which is not read
                      again */
    uint64_t n;    /* number of the segment that is read */
    struct segment *now; /* that segment; NULL: not opened yet */
    size_t at;           /* offset of the next record */
    size_t before;       /* of the record last returned */
    uint64_t arrival;    /* the last input's number */
    struct seam seam;    /* what this segment must say of the one before */
    char *bad; /* path of the segment before, if that is not as it should be */
};

/* ---- a log that was never begun ---- */

/* Whether the bytes hold a head record anywhere or, where `head` is false, any
 * other record: those are written when the head is durable. */
static bool
has_record(const char *bytes, size_t len, bool head)
{
    static const char mark[] = " M 0 ";
    struct record r;

    for (size_t i = 0; i < len; i++)
        if (record_next(bytes + i, len - i, SIZE_MAX, &r, NULL) ==
                RECORD_READY &&
            (r.kind == RECORD_HEAD) == head)
            return true;
    return !head && memmem(bytes, len, mark, sizeof mark - 1) != NULL;
}

/* Whether the head record is cut off. */
static bool
is_torn(const char *bytes, size_t len)
{
    size_t at = record_read_version(bytes, len, NULL);
    struct record r;

    return at > 0 && record_next(bytes + at, len - at, SIZE_MAX, &r, NULL) ==
                         RECORD_PARTIAL;
}

static bool
is_void(const char *bytes, size_t len)
{
    struct buf version;
    bool within;

    if (len > VOID_MAX)
        return false;
    /* these blocks were never written */
    while (len > 0 && bytes[len - 1] == '\0')
        len--;
    buf_init(&version, 4096);
    record_write_version(&version);
    within = len < version.len && memcmp(bytes, version.data, len) == 0;
    buf_fini(&version);
    if (within)
        return true;
    if (has_record(bytes, len, false))
        return false;
    /* A log is void whose first block was never written, whose head is cut off,
     * or whose first line is damaged.  A file that begins otherwise is no log
     * of ours. */
    return bytes[0] == '\0' || is_torn(bytes, len) ||
           (has_record(bytes, len, true) &&
            memcmp(bytes, RECORD_MAGIC, sizeof RECORD_MAGIC - 1) != 0);
}

/* ---- a segment ---- */

static struct segment *
segment_new(const char *path, struct err *err)
{
    struct segment *s = calloc(1, sizeof *s);

    if (s == NULL || (s->path = strdup(path)) == NULL) {
        free(s);
        err_set(err, ERR_MEMORY, "%s: out of memory", path);
        return NULL;
    }
    s->fd = -1;
    s->bytes = "";
    return s;
}

static void
segment_close(struct segment *s)
{
    if (s == NULL)
        return;
    if (s->len > 0)
        munmap((void *)(uintptr_t)s->bytes, s->len);
    if (s->fd >= 0)
        close(s->fd);
    free(s->path);
    free(s);
}

static bool
has_sealed(const char *folder)
{
    char *path = segments_any(folder);
    bool has = path != NULL;

    free(path);
    return has;
}

/* Whether the segment is void and the folder has no other one. */
static bool
is_void_in(const struct segment *s, const char *folder)
{
    return folder != NULL && s->head.head.size == 0 &&
           is_void(s->bytes, s->len) && !has_sealed(folder);
}

/* Reads a segment's head.  folder: of a command.log, which may be void; else
 * NULL. */
static int
read_head(struct segment *s, const char *folder, struct err *err)
{
    struct err why;
    int rc = segment_head_read(s->bytes, s->len, &s->head, &why);

    s->is_void = is_void_in(s, folder);
    if (s->is_void)
        s->head =
            (struct segment_head){.number = 1, .begin = s->len, .size = s->len};
    if (s->is_void || rc == 0)
        return 0;
    if (s->len >= 2 && memcmp(s->bytes, "\x1f\x8b", 2) == 0)
        return err_set(err, ERR_LOG,
                       "%s: compressed: open the command.log beside it, or "
                       "unpack it with gzip -dc",
                       s->path);
    return err_set(err, ERR_LOG, "%s: %s", s->path, why.text);
}

/* Maps `len` bytes of the file, in place of what was mapped before. */
static int
map_file(struct segment *s, size_t len, struct err *err)
{
    bool loaded;
    const char *map = filesystem_view(s->fd, len, s->path, &loaded, err);

    if (map == NULL)
        return -1;
    if (s->len > 0)
        munmap((void *)(uintptr_t)s->bytes, s->len);
    s->bytes = map;
    s->loaded = loaded;
    s->len = len;
    s->freed = 0;
    return 0;
}

/* Maps what was appended to the file.  1: there is more, and the bytes may lie
 * elsewhere, the head's payload among them; 0: there is not. */
static int
segment_grow(struct segment *s, struct err *err)
{
    size_t payload =
        s->head.head.size > 0 ? (size_t)(s->head.head.payload - s->bytes) : 0;
    struct stat st;

    if (fstat(s->fd, &st) != 0 || !S_ISREG(st.st_mode))
        return err_set(err, ERR_LOG, "%s: expected a file", s->path);
    if ((size_t)st.st_size <= s->len)
        return 0;
    if (map_file(s, (size_t)st.st_size, err) != 0)
        return -1;
    if (s->head.head.size > 0)
        s->head.head.payload = s->bytes + payload;
    return 1;
}

/* Opens and maps a segment and checks its version line.  folder: as for
 * read_head(). */
static struct segment *
segment_open(const char *path, const char *folder, struct err *err)
{
    struct segment *s = segment_new(path, err);

    if (s == NULL)
        return NULL;
    s->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (s->fd < 0)
        err_errno(err, ERR_LOG, "%s: cannot open", path);
    else if (segment_grow(s, err) >= 0 && read_head(s, folder, err) == 0)
        return s;
    segment_close(s);
    return NULL;
}

/* A void segment, for a file that does not exist. */
static struct segment *
segment_none(const char *path, struct err *err)
{
    struct segment *s = segment_new(path, err);

    if (s != NULL) {
        s->is_void = true;
        s->head.number = 1;
    }
    return s;
}

/* Gives the pages before `end` back to the system, in large pieces. */
static void
segment_give_back(struct segment *s, size_t end)
{
    if (end < s->len)
        end = end / KEPT * KEPT;
    if (end <= s->freed || s->loaded)
        return;
    (void)madvise((void *)(uintptr_t)(s->bytes + s->freed), end - s->freed,
                  MADV_DONTNEED);
    s->freed = end / KEPT * KEPT;
}

/* Whether the path leads to the file that is open as this segment. */
static bool
segment_is(const struct segment *s, const char *path)
{
    struct stat mine, other;

    return fstat(s->fd, &mine) == 0 && stat(path, &other) == 0 &&
           mine.st_dev == other.st_dev && mine.st_ino == other.st_ino;
}

static int
append_unpacked(void *ctx, const void *data, size_t len, struct err *err)
{
    const struct segment *s = ctx;

    return file_write_all(s->fd, data, len, err);
}

/* Makes a file without a name: in the folder, where there should be room; in
 * memory where nothing may be written. */
static int
nameless(const char *folder)
{
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    return fd >= 0 ? fd : memfd_create("segment", MFD_CLOEXEC);
}

static int
unpack(struct segment *s, int from, uint64_t bytes, struct err *err)
{
    if (gzip_unpack(from, bytes, append_unpacked, s, err) != 0) {
        err_place(err, "%s", s->path);
        if (err != NULL && err->code == ERR_SYSTEM)
            err_place(err, "cannot unpack");
        return -1;
    }
    if (segment_grow(s, err) < 0 || read_head(s, NULL, err) != 0)
        return -1;
    if (s->len == bytes)
        return 0;
    return err_set(err, ERR_LOG, "%s: holds %zu bytes, expected %" PRIu64,
                   s->path, s->len, bytes);
}

/* Opens command.N.log.gz in the folder, which held `bytes` when it was
 * sealed. */
static struct segment *
segment_unpack(const char *path, const char *folder, uint64_t bytes,
               struct err *err)
{
    struct segment *s = segment_new(path, err);
    int from, rc = -1;

    if (s == NULL)
        return NULL;
    from = open(path, O_RDONLY | O_CLOEXEC);
    s->fd = from < 0 ? -1 : nameless(folder);
    if (from < 0)
        err_errno(err, ERR_LOG, "%s: cannot open", path);
    else if (s->fd < 0)
        err_errno(err, ERR_SYSTEM, "%s: cannot unpack", path);
    else
        rc = unpack(s, from, bytes, err);
    if (from >= 0)
        close(from);
    if (rc == 0)
        return s;
    segment_close(s);
    return NULL;
}

/* ---- all of its segments ---- */

static int
no_memory(const struct log_reader *l, struct err *err)
{
    return err_set(err, ERR_MEMORY, "%s: out of memory", l->path);
}

/* Makes room for all segments; takes the last one and puts it there. */
static int
hold_last(struct log_reader *l, struct segment *last, struct err *err)
{
    l->segments =
        calloc((size_t)(l->last - l->first) + 1, sizeof(struct segment *));
    if (l->segments != NULL) {
        l->segments[l->last - l->first] = last;
        return 0;
    }
    segment_close(last);
    return no_memory(l, err);
}

/* Opens the last segment and looks for those before it.  1: the file was
 * replaced meanwhile, so look again. */
static int
find_segments(struct log_reader *l, struct segment **last, struct err *err)
{
    struct err why = {0};

    *last = l->optional && access(l->path, F_OK) != 0
                ? segment_none(l->path, &why)
                : segment_open(l->path, l->folder, &why);
    if (*last == NULL) {
        if (err != NULL)
            *err = why;
        return l->optional && why.number == ENOENT ? 1 : -1;
    }
    l->last = l->first = (*last)->head.number;
    if (l->folder == NULL || (*last)->is_void)
        return 0;
    l->first = segments_first(l->folder, l->last, err);
    if (l->first != 0)
        return 0;
    return segment_is(*last, l->path) ? -1 : 1;
}

static int
find_all(struct log_reader *l, struct err *err)
{
    struct segment *last = NULL;
    int rc = 1;

    for (int i = 0; rc == 1 && i < TRIES; i++) {
        segment_close(last);
        rc = find_segments(l, &last, err);
    }
    if (rc == 0)
        return hold_last(l, last, err);
    segment_close(last);
    return -1;
}

static void
close_all(struct log_reader *l)
{
    for (uint64_t i = 0; l->segments != NULL && i <= l->last - l->first; i++)
        segment_close(l->segments[i]);
    free(l->segments);
    l->segments = NULL;
}

static struct segment *
last_of(const struct log_reader *l)
{
    return l->segments[l->last - l->first];
}

/* Reads how segment n, which exists, begins; head.head is of no use. */
static int
head_of(const struct log_reader *l, uint64_t n, struct segment_head *out,
        struct err *err)
{
    static const enum segment_file files[] = {SEGMENT_PLAIN, SEGMENT_GZ};
    const struct segment *open = l->segments[n - l->first];
    struct buf bytes;
    int rc = 0;

    if (open != NULL) {
        *out = open->head;
        return 0;
    }
    for (int i = 0; i < 2 && rc == 0; i++) {
        char *path = segments_path(l->folder, n, files[i]);

        buf_init(&bytes, SEGMENT_HEAD_MAX);
        rc = path == NULL ? no_memory(l, err)
                          : segment_head_load(path, files[i], &bytes, out, err);
        buf_fini(&bytes);
        free(path);
    }
    if (rc == 0)
        return err_set(err, ERR_LOG,
                       "%s: segment %" PRIu64 " is not there any more", l->path,
                       n);
    return rc > 0 ? 0 : -1;
}

static struct segment *
open_packed(const struct log_reader *l, uint64_t n, struct err *err)
{
    char *path = segments_path(l->folder, n, SEGMENT_GZ);
    struct segment *s = NULL;
    struct segment_head next;

    if (path == NULL)
        no_memory(l, err);
    else if (head_of(l, n + 1, &next, err) == 0)
        s = segment_unpack(path, l->folder, next.bytes, err);
    free(path);
    return s;
}

/* Opens sealed segment n, which may just be in the course of compression. */
static struct segment *
open_sealed(const struct log_reader *l, uint64_t n, struct err *err)
{
    char *path = segments_path(l->folder, n, SEGMENT_PLAIN);
    struct segment *s = NULL;

    if (path == NULL) {
        no_memory(l, err);
        return NULL;
    }
    if (access(path, F_OK) == 0)
        s = segment_open(path, NULL, err);
    if (s == NULL && access(path, F_OK) != 0)
        s = open_packed(l, n, err);
    free(path);
    if (s == NULL || (s->head.number == n && s->head.head.size > 0))
        return s;
    err_set(err, ERR_LOG,
            "%s: expected to begin as segment %" PRIu64 " of the log", s->path,
            n);
    segment_close(s);
    return NULL;
}

/* Segment n, opened if necessary; borrowed until leave(). */
static struct segment *
get_segment(struct log_reader *l, uint64_t n, struct err *err)
{
    struct segment **s = &l->segments[n - l->first];

    if (*s == NULL)
        *s = open_sealed(l, n, err);
    if (*s != NULL)
        (*s)->freed = 0;
    return *s;
}

static void
leave(struct log_reader *l, uint64_t n)
{
    struct segment **s = &l->segments[n - l->first];

    if (*s == NULL)
        return;
    if ((l->flags & LOG_KEEP) != 0 || n == l->last) {
        segment_give_back(*s, (*s)->len);
    } else {
        segment_close(*s);
        *s = NULL;
    }
}

/* ---- opening and closing ---- */

/* Fails where segments were dropped, for a reader that needs the whole log. */
static int
check_whole(const struct log_reader *l, struct err *err)
{
    struct err why;

    if (!log_lacks(l, &why))
        return 0;
    return err_set(err, why.code,
                   "%s; expected a log that has them all (replay --verify, "
                   "explain, log and resume can do without dropped ones)",
                   why.text);
}

static struct log_reader *
open_log(const char *path, unsigned flags, bool optional, struct err *err)
{
    struct log_reader *l = calloc(1, sizeof *l);
    const char *slash = strrchr(path, '/');
    bool alone = strcmp(slash == NULL ? path : slash + 1, LOG_NAME) != 0;

    if (l == NULL) {
        err_set(err, ERR_MEMORY, "%s: out of memory", path);
        return NULL;
    }
    l->flags = flags;
    l->optional = optional;
    l->path = strdup(path);
    l->folder = alone ? NULL : file_folder(path);
    if (l->path == NULL || (!alone && l->folder == NULL)) {
        err_set(err, ERR_MEMORY, "%s: out of memory", path);
    } else if (find_all(l, err) == 0) {
        l->from = l->first;
        log_rewind(l);
        if ((flags & LOG_WHOLE) == 0 || check_whole(l, err) == 0)
            return l;
    }
    log_close(l);
    return NULL;
}

struct log_reader *
log_open(const char *path, unsigned flags, struct err *err)
{
    return open_log(path, flags, false, err);
}

struct log_reader *
log_open_in(const char *folder, unsigned flags, struct err *err)
{
    char *path = log_path(folder, err);
    struct log_reader *l =
        path == NULL ? NULL : open_log(path, flags, true, err);

    free(path);
    return l;
}

void
log_close(struct log_reader *l)
{
    if (l == NULL)
        return;
    close_all(l);
    free(l->bad);
    free(l->folder);
    free(l->path);
    free(l);
}

const char *
log_name(const struct log_reader *l)
{
    return l->path;
}

bool
log_is_begun(const struct log_reader *l)
{
    return last_of(l)->head.head.size > 0;
}

void
log_rewind(struct log_reader *l)
{
    if (l->now != NULL && l->n != l->from)
        leave(l, l->n);
    l->n = l->from;
    l->now = NULL;
    l->seam.known = false;
}

int
log_start_at(struct log_reader *l, uint64_t segment, struct err *err)
{
    if (segment < l->first || segment > l->last)
        return err_set(err, ERR_LOG,
                       "%s: no segment %" PRIu64 ", there are %" PRIu64
                       " to %" PRIu64,
                       l->path, segment, l->first, l->last);
    if (l->now != NULL)
        leave(l, l->n);
    l->now = NULL;
    l->from = segment;
    l->headless = true;
    log_rewind(l);
    return 0;
}

/* ---- a log that is being written ---- */

/* Takes note that what was the last segment now has the name of a sealed
 * one. */
static int
rename_last(struct log_reader *l, struct err *err)
{
    struct segment *last = last_of(l);
    char *path = segments_path(l->folder, l->last, SEGMENT_PLAIN);

    if (path == NULL)
        return no_memory(l, err);
    free(last->path);
    last->path = path;
    return 0;
}

/* Adds a segment that was begun since; takes it. */
static int
append_segment(struct log_reader *l, struct segment *s, struct err *err)
{
    uint64_t n = s->head.number;
    struct segment **old = l->segments;
    size_t len = (size_t)(l->last - l->first + 1);

    if (n <= l->last || n - l->last > LEAPS_MAX) {
        segment_close(s);
        return err_set(err, ERR_LOG,
                       "%s: is segment %" PRIu64 " now, expected a later one "
                       "than %" PRIu64,
                       l->path, n, l->last);
    }
    if (rename_last(l, err) != 0) {
        segment_close(s);
        return -1;
    }
    l->segments = calloc((size_t)(n - l->first) + 1, sizeof(struct segment *));
    if (l->segments == NULL) {
        l->segments = old;
        segment_close(s);
        return no_memory(l, err);
    }
    memcpy(l->segments, old, len * sizeof(struct segment *));
    free(old);
    l->last = n;
    l->segments[n - l->first] = s;
    return 1;
}

/* Looks whether a void log was begun since, be it in another file; in between
 * there may be no file of that name. */
static int
reopen_void(struct log_reader *l, struct err *err)
{
    struct log_reader was = *l;

    l->optional = true;
    l->segments = NULL;
    if (find_all(l, err) != 0) {
        *l = was;
        return -1;
    }
    close_all(&was);
    l->now = NULL;
    l->from = l->first;
    log_rewind(l);
    return log_is_begun(l);
}

int
log_grow(struct log_reader *l, struct err *err)
{
    struct segment *last = last_of(l), *s;
    int rc;

    if (last->is_void)
        return reopen_void(l, err);
    rc = segment_grow(last, err);
    if (rc != 0 || l->folder == NULL || segment_is(last, l->path))
        return rc;
    /* what came just before the segment was sealed */
    rc = segment_grow(last, err);
    if (rc != 0)
        return rc;
    s = segment_open(l->path, NULL, err);
    return s == NULL ? -1 : append_segment(l, s, err);
}

/* ---- from one segment to the next ---- */

static uint32_t
head_sum(const struct segment_head *h)
{
    return crc32c(0, h->head.payload, h->head.len);
}

/* Whether the segment before has another length or last command than this
 * segment's head says. */
static int
is_short(struct log_reader *l, struct err *err)
{
    const struct segment_head *h = &l->now->head;
    const char *next = l->now->path;

    free(l->bad);
    l->bad = segments_path(l->folder, l->n - 1, SEGMENT_PLAIN);
    if (l->bad == NULL)
        return err_set(err, ERR_MEMORY, "%s: out of memory", l->path);
    if (h->bytes != l->seam.bytes)
        return err_set(err, ERR_LOG,
                       "%s: offset %" PRIu64 ": ends there, expected %" PRIu64
                       " bytes, as %s says",
                       l->bad, l->seam.bytes, h->bytes, next);
    return err_set(err, ERR_LOG,
                   "%s: ends with command %" PRIu64 ", expected %" PRIu64
                   ", as %s says",
                   l->bad, l->seam.arrival, h->arrival, next);
}

static int
check_seam(struct log_reader *l, struct err *err)
{
    const struct segment_head *h = &l->now->head;

    if (h->number != l->n || h->head.size == 0)
        return err_set(err, ERR_LOG,
                       "%s: expected to begin as segment %" PRIu64
                       " of the log",
                       l->now->path, l->n);
    if (head_sum(h) != l->seam.head)
        return err_set(err, ERR_LOG,
                       "%s: another head than that of the segment before, "
                       "expected segments of one session",
                       l->now->path);
    return h->bytes == l->seam.bytes && h->arrival == l->seam.arrival
               ? 0
               : is_short(l, err);
}

/* Opens the segment that is to be read, and checks what it says of the one
 * before. */
static int
enter_segment(struct log_reader *l, struct err *err)
{
    const struct segment_head *h;

    l->now = get_segment(l, l->n, err);
    if (l->now == NULL)
        return -1;
    h = &l->now->head;
    if (l->seam.known && check_seam(l, err) != 0)
        return -1;
    l->arrival = h->arrival;
    l->at = h->size;
    if (l->n == l->first && !l->headless)
        l->at = h->begin;
    l->before = l->at;
    return 0;
}

static void
move_on(struct log_reader *l)
{
    l->seam =
        (struct seam){true, l->now->len, l->arrival, head_sum(&l->now->head)};
    leave(l, l->n);
    l->now = NULL;
    l->n++;
}

/* ---- records ---- */

#define CRC_SIZE 8

/* Up to which offset the log was on stable storage when the mark at `begin` was
 * written. */
static size_t
synced_upto(const struct record *mark, size_t begin)
{
    uint64_t upto;

    if (mark->len == 0)
        return begin;
    if (!number_parse_u64(mark->payload, mark->len, &upto) || upto > begin)
        return 0;
    return (size_t)upto;
}

/* Whether a whole sync mark anywhere behind `from` says that the bytes there
 * were on stable storage.  It is looked for not only behind a newline, for that
 * may be what is damaged. */
static bool
synced_behind(const struct segment *s, size_t from)
{
    static const char kind[] = " M 0 ";
    const char *end = s->bytes + s->len;
    struct record r;

    if (s->len - from < CRC_SIZE)
        return false;
    for (const char *at = s->bytes + from + CRC_SIZE; at < end; at++) {
        const char *begin;

        at = memmem(at, (size_t)(end - at), kind, sizeof kind - 1);
        if (at == NULL)
            return false;
        begin = at - CRC_SIZE;
        if (record_next(begin, (size_t)(end - begin), SIZE_MAX, &r, NULL) ==
                RECORD_READY &&
            synced_upto(&r, (size_t)(begin - s->bytes)) > from)
            return true;
    }
    return false;
}

/* Whether `tunepipe log --repair` can help: not with compressed segments. */
static bool
can_be_repaired(const struct log_reader *l)
{
    const char *ending = strrchr(l->now->path, '.');

    return (l->flags & LOG_NO_ADVICE) == 0 &&
           (ending == NULL || strcmp(ending, ".gz") != 0);
}

static void
advise(const struct log_reader *l, struct err *err)
{
    struct err why = *err;

    err_set(err, ERR_LOG,
            "%s; tunepipe log %s --repair FILE keeps what is whole", why.text,
            l->path);
}

static enum log_status
not_a_record(struct log_reader *l, struct err *err)
{
    bool sealed = l->n != l->last;

    if (!sealed && !synced_behind(l->now, l->at))
        return LOG_TORN;
    err_place(err, "%s: offset %zu, %s", l->now->path, l->at,
              sealed ? "in a segment that others follow"
                     : "before the last sync mark");
    if (err != NULL)
        err->code = ERR_LOG;
    if (err != NULL && can_be_repaired(l))
        advise(l, err);
    return LOG_DAMAGED;
}

enum log_status
log_next(struct log_reader *l, struct record *out, struct err *err)
{
    enum record_status status;

    for (;;) {
        if (l->now == NULL && enter_segment(l, err) != 0)
            return LOG_DAMAGED;
        if (l->at < l->now->len)
            break;
        if (l->n == l->last)
            return LOG_END;
        move_on(l);
    }
    status = record_next(l->now->bytes + l->at, l->now->len - l->at, SIZE_MAX,
                         out, err);
    if (status == RECORD_PARTIAL)
        err_set(err, ERR_LOG, "the record is cut off");
    if (status != RECORD_READY)
        return not_a_record(l, err);
    if (record_is_input(out->kind))
        l->arrival = out->number;
    l->before = l->at;
    l->at += out->size;
    segment_give_back(l->now, l->before);
    return LOG_RECORD;
}

int
log_read_head(struct log_reader *l, struct record *head, struct err *err)
{
    enum log_status status = log_next(l, head, err);

    if (status == LOG_DAMAGED)
        return -1;
    if (status != LOG_RECORD || head->kind != RECORD_HEAD)
        return err_set(err, ERR_LOG, "%s: expected a head record first",
                       l->path);
    return 0;
}

/* ---- where it is ---- */

uint64_t
log_offset(const struct log_reader *l)
{
    return l->before;
}

uint64_t
log_segment(const struct log_reader *l)
{
    return l->n;
}

const char *
log_path_now(const struct log_reader *l)
{
    if (l->bad != NULL)
        return l->bad;
    return l->now != NULL ? l->now->path : l->path;
}

uint64_t
log_torn(const struct log_reader *l)
{
    return l->now->len - l->at;
}

/* ---- what there is ---- */

uint64_t
log_first_segment(const struct log_reader *l)
{
    return l->first;
}

uint64_t
log_last_segment(const struct log_reader *l)
{
    return l->last;
}

int
log_before(const struct log_reader *l, uint64_t segment, uint64_t *arrival,
           uint64_t *frames, struct err *err)
{
    struct segment_head head;

    if (segment < l->first || segment > l->last)
        return err_set(err, ERR_LOG, "%s: no segment %" PRIu64, l->path,
                       segment);
    if (head_of(l, segment, &head, err) != 0)
        return -1;
    *arrival = head.arrival;
    *frames = head.frames;
    return 0;
}

bool
log_lacks(const struct log_reader *l, struct err *err)
{
    uint64_t first = l->first, arrival, frames;

    if (first == 1)
        return false;
    if (log_before(l, first, &arrival, &frames, err) != 0)
        return true;
    if (l->folder != NULL)
        err_set(err, ERR_LOG,
                "%s: commands 1 to %" PRIu64
                " are not on record any more (%s%" PRIu64 " %s dropped)",
                l->path, arrival, first == 2 ? "segment " : "segments 1 to ",
                first - 1, first == 2 ? "was" : "were");
    else
        err_set(err, ERR_LOG,
                "%s: segment %" PRIu64 " of a log: commands 1 to %" PRIu64
                " stand in those before it",
                l->path, first, arrival);
    return true;
}

/* ---- which log ---- */

#define FOLDER "an experiment's folder, with " LOG_NAME

char *
log_path(const char *folder, struct err *err)
{
    char *place = log_place(folder, err), *path;

    if (place == NULL)
        return NULL;
    path = file_join(place, LOG_NAME);
    if (path == NULL)
        err_set(err, ERR_MEMORY, "%s: out of memory", folder);
    free(place);
    return path;
}

/* Returns the path if it leads to a file, as it must; takes it, be it NULL. */
static char *
check_path(char *path, const char *expected, struct err *err)
{
    if (path != NULL && access(path, F_OK) != 0) {
        err_errno(err, ERR_LOG, "%s: cannot open, expected %s", path, expected);
        free(path);
        path = NULL;
    }
    return path;
}

char *
log_find_in(const char *folder, struct err *err)
{
    return check_path(log_path(folder, err), FOLDER, err);
}

char *
log_find(const char *word, struct err *err)
{
    struct stat st;
    char *path;

    if (stat(word, &st) == 0 && S_ISDIR(st.st_mode))
        return log_find_in(word, err);
    path = strdup(word);
    if (path == NULL)
        err_set(err, ERR_MEMORY, "out of memory");
    return check_path(path, "a command log or " FOLDER, err);
}

bool
log_is_void(const char *folder)
{
    char *path = log_path(folder, NULL);
    struct log_reader *l = path == NULL ? NULL : log_open(path, 0, NULL);
    bool yes = l != NULL && last_of(l)->is_void;

    log_close(l);
    free(path);
    return yes;
}

bool
log_was_left(const char *folder)
{
    char *place = log_place(folder, NULL);
    bool left = place != NULL &&
                (file_has(place, LOG_NAME)
                     ? log_is_void(place)
                     : file_has(place, LOCKFILE_NAME) && !has_sealed(place));

    free(place);
    return left;
}

bool
log_exists(const char *folder)
{
    char *place = log_place(folder, NULL);
    bool exists =
        place != NULL && (has_sealed(place) ||
                          (file_has(place, LOG_NAME) && !log_is_void(place)));

    free(place);
    return exists;
}

/* Makes the first of the folders earlier-1, earlier-2, ... that does not exist
 * yet; returns its path, to be freed. */
static char *
make_aside(const char *folder, char name[LOG_ASIDE_MAX], struct err *err)
{
    for (int i = 1; i <= ASIDE_FOLDERS; i++) {
        char *path;

        snprintf(name, LOG_ASIDE_MAX, "earlier-%d", i);
        path = file_join(folder, name);
        if (path == NULL) {
            err_set(err, ERR_MEMORY, "%s: out of memory", folder);
            return NULL;
        }
        if (mkdir(path, 0700) == 0)
            return path;
        if (errno != EEXIST) {
            err_errno(err, ERR_LOG, "%s: cannot be made", path);
            free(path);
            return NULL;
        }
        free(path);
    }
    err_set(err, ERR_LOG, "%s: has %d folders earlier-N, expected fewer",
            folder, ASIDE_FOLDERS);
    return NULL;
}

int
log_set_aside(const char *folder, char name[LOG_ASIDE_MAX], struct err *err)
{
    char *place = log_place(folder, err), *to = NULL;
    char *path = place == NULL ? NULL : file_join(place, LOCKFILE_NAME);
    struct loglock lock;
    int rc = -1;

    loglock_init(&lock);
    if (place != NULL && path == NULL)
        err_set(err, ERR_MEMORY, "%s: out of memory", folder);
    else if (path != NULL && loglock_take(&lock, path, err) == 0)
        to = make_aside(folder, name, err);
    if (to != NULL)
        rc = segments_move(place, to, err);
    loglock_release(&lock);
    free(path);
    free(place);
    free(to);
    return rc;
}

/* Sealed segments are on stable storage. */
int
log_sync(const char *folder, struct err *err)
{
    char *path = file_join(folder, LOG_NAME);
    int fd = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    int rc =
        fd < 0 || fdatasync(fd) != 0
            ? err_errno(err, ERR_SYSTEM, "%s/" LOG_NAME ": cannot sync", folder)
            : 0;

    if (fd >= 0)
        close(fd);
    free(path);
    return rc;
}

/* SPDX-License-Identifier: MIT */
#include "log/snapshot.h"

#include "core/crc32c.h"
#include "core/errand.h"
#include "core/file.h"
#include "core/pack.h"
#include "log/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* DESIGN
 *
 *   tunepipe-snapshot 1 LF
 *   segment, arrival, head          8 bytes each, little-endian (pack.h)
 *   for each part: 0 or 1, its length, its bytes
 *   CRC-32C of all before */

static const char magic[] = "tunepipe-snapshot 1\n";

#define MAGIC_LEN (sizeof magic - 1)
#define FILE_MAX (SNAPSHOT_PARTS * SNAPSHOT_PART_MAX + 4096)

void
snapshot_init(struct snapshot *s)
{
    *s = (struct snapshot){0};
    for (int i = 0; i < SNAPSHOT_PARTS; i++)
        buf_init(&s->parts[i], SNAPSHOT_PART_MAX);
}

void
snapshot_fini(struct snapshot *s)
{
    for (int i = 0; i < SNAPSHOT_PARTS; i++)
        buf_fini(&s->parts[i]);
}

uint32_t
snapshot_head(const char *payload, size_t len)
{
    return crc32c(0, payload, len);
}

uint64_t
snapshot_size(const struct snapshot *s)
{
    uint64_t size = MAGIC_LEN + 3 * 8 + 8;

    for (int i = 0; i < SNAPSHOT_PARTS; i++)
        size += 2 * 8 + (s->has[i] ? s->parts[i].len : 0);
    return size;
}

bool
snapshot_is_whole(const struct snapshot *s)
{
    for (int i = 0; i < SNAPSHOT_PARTS; i++)
        if (!s->has[i])
            return false;
    return true;
}

/* ---- writing ---- */

/* A file that is written from its begin to its end. */
struct output {
    const struct logio *io;
    int fd;
    off_t at;
    uint32_t crc;
    int error; /* the first errno; 0: none */
};

static void
put(struct output *out, const void *data, size_t len)
{
    if (out->error != 0 || len == 0)
        return;
    out->crc = crc32c(out->crc, data, len);
    out->error = logio_write(out->io, out->fd, data, len, out->at, &out->at);
}

static void
put_numbers(struct output *out, const uint64_t *numbers, size_t n)
{
    struct buf b;

    buf_init(&b, 64);
    for (size_t i = 0; i < n; i++)
        pack_u64(&b, numbers[i]);
    put(out, b.data, b.len);
    if (b.failed && out->error == 0)
        out->error = ENOMEM;
    buf_fini(&b);
}

static void
put_all(struct output *out, const struct snapshot *s)
{
    uint64_t numbers[] = {s->segment, s->arrival, s->head};
    uint64_t crc;

    put(out, magic, MAGIC_LEN);
    put_numbers(out, numbers, 3);
    for (int i = 0; i < SNAPSHOT_PARTS; i++) {
        uint64_t part[] = {s->has[i], s->has[i] ? s->parts[i].len : 0};

        put_numbers(out, part, 2);
        put(out, s->parts[i].data, (size_t)part[1]);
    }
    crc = out->crc;
    put_numbers(out, &crc, 1);
}

/* Writes a snapshot's bytes.  0 or an errno. */
static int
write_file(const struct snapshot *s, const char *path, const struct logio *io)
{
    struct output out = {.io = io};

    do
        out.fd = io->open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    while (out.fd < 0 && errno == EINTR);
    if (out.fd < 0)
        return errno;
    put_all(&out, s);
    if (out.error == 0)
        out.error = logio_sync(io, out.fd);
    close(out.fd);
    return out.error;
}

/* Writes and syncs a snapshot's file, and renames it.  0 or an errno; no
 * temporary file is left behind. */
static int
put_in_place(const struct snapshot *s, const char *folder, const char *path,
             const struct logio *io)
{
    char *temporary = NULL;
    int error;

    if (asprintf(&temporary, "%s.new", path) < 0)
        return ENOMEM;
    error = write_file(s, temporary, io);
    if (error == 0 && io->rename(temporary, path) != 0)
        error = errno;
    if (error != 0)
        io->unlink(temporary);
    else
        error = logio_sync_folder(io, folder);
    free(temporary);
    return error;
}

int
snapshot_write(const struct snapshot *s, const char *folder,
               const struct logio *io, struct err *err)
{
    char *path = segments_path(folder, s->segment, SEGMENT_SNAPSHOT);
    int error = path == NULL ? ENOMEM : put_in_place(s, folder, path, io);

    errno = error;
    if (error != 0)
        err_errno(err, ERR_LOG, "%s: cannot write",
                  path != NULL ? path : "snapshot");
    free(path);
    return error == 0 ? 0 : -1;
}

/* ---- reading ---- */

int
snapshot_list(const char *folder, uint64_t **out, size_t *n, struct err *err)
{
    return segments_list(folder, SEGMENT_SNAPSHOT, out, n, err);
}

static int
damaged(const char *path, const char *what, struct err *err)
{
    return err_set(err, ERR_LOG, "%s: %s", path, what);
}

static void
take_part(struct snapshot *s, int part, struct unpack *u)
{
    const char *bytes;
    size_t len;

    s->has[part] = unpack_bool(u);
    bytes = unpack_bytes(u, &len);
    buf_add(&s->parts[part], bytes, len);
}

static int
take_all(struct snapshot *s, const struct buf *file, const char *path,
         struct err *err)
{
    struct unpack end, u;
    uint64_t head;

    if (file->len < MAGIC_LEN + 8 || memcmp(file->data, magic, MAGIC_LEN) != 0)
        return damaged(path, "no snapshot of this version", err);
    end = unpack_from(file->data + file->len - 8, 8);
    if (unpack_u64(&end) != crc32c(0, file->data, file->len - 8))
        return damaged(path, "the checksum is wrong", err);
    u = unpack_from(file->data + MAGIC_LEN, file->len - MAGIC_LEN - 8);
    s->segment = unpack_u64(&u);
    s->arrival = unpack_u64(&u);
    head = unpack_u64(&u);
    s->head = (uint32_t)head;
    for (int i = 0; i < SNAPSHOT_PARTS; i++)
        take_part(s, i, &u);
    if (!unpack_done(&u) || head > UINT32_MAX)
        return damaged(path, "it is no snapshot", err);
    for (int i = 0; i < SNAPSHOT_PARTS; i++)
        if (buf_check(&s->parts[i], path, err) != 0)
            return -1;
    return 0;
}

int
snapshot_read(struct snapshot *s, const char *folder, uint64_t segment,
              struct err *err)
{
    char *path = segments_path(folder, segment, SEGMENT_SNAPSHOT);
    struct buf file;
    int rc = -1;

    if (path == NULL)
        return err_set(err, ERR_MEMORY, "snapshot: out of memory");
    buf_init(&file, FILE_MAX);
    if (file_read(path, FILE_MAX, &file, err) == 0)
        rc = take_all(s, &file, path, err);
    if (rc == 0 && s->segment != segment)
        rc = damaged(path, "it is of another segment", err);
    buf_fini(&file);
    free(path);
    return rc;
}

/* ---- the thread ---- */

struct snapshotter {
    struct errand *errand;
    struct snapshotter_setup setup;
    /* the thread's during a job, else the caller's */
    struct snapshot snapshot;
    struct snapshotter_news news;
    /* The segment of the last snapshot, where it had all parts. */
    uint64_t whole;
};

/* Whether the snapshot spares a replay: a side that it lacks is replayed from
 * the first segment on. */
static bool
is_of_use(const struct snapshotter *s)
{
    const struct snapshot *snap = &s->snapshot;

    return snapshot_is_whole(snap) ||
           ((snap->has[SNAPSHOT_TUNER] || snap->has[SNAPSHOT_ASSESSOR]) &&
            segments_complete(s->setup.folder));
}

static void
write_it(struct snapshotter *s)
{
    struct snapshotter_news *news = &s->news;

    if (!is_of_use(s))
        return;
    if (snapshot_write(&s->snapshot, s->setup.folder, s->setup.io,
                       &news->err) != 0)
        news->written_failed = true;
    else
        news->size = snapshot_size(&s->snapshot);
}

/* Up to which segment old ones are retired.  Two whole snapshots in a row:
 * segments for which the older one stands may be dropped; to be compressed
 * nothing need stand for them. */
static uint64_t
retired_upto(const struct snapshotter *s, uint64_t whole_before)
{
    if (s->setup.policy == OLD_DROP)
        return s->whole != 0 ? whole_before : 0;
    return s->snapshot.segment - 1;
}

static int
retire(struct snapshotter *s, uint64_t whole_before)
{
    struct snapshotter_news *news = &s->news;
    uint64_t upto = retired_upto(s, whole_before);

    if (segments_forget(s->setup.folder, s->setup.io, &news->retire_err) != 0)
        return -1;
    if (upto == 0)
        return 0;
    return segments_retire(s->setup.folder, upto, s->setup.policy, s->setup.io,
                           news->retired, &news->retire_err);
}

static void
work(void *ctx)
{
    struct snapshotter *s = ctx;
    uint64_t whole_before = s->whole;

    s->news = (struct snapshotter_news){0};
    write_it(s);
    s->whole = s->news.size > 0 && snapshot_is_whole(&s->snapshot)
                   ? s->snapshot.segment
                   : 0;
    if (!s->news.written_failed)
        s->news.retire_failed = retire(s, whole_before) != 0;
    snapshot_fini(&s->snapshot);
}

struct snapshotter *
snapshotter_start(const struct snapshotter_setup *setup, struct err *err)
{
    struct snapshotter *s = calloc(1, sizeof *s);

    if (s == NULL) {
        err_set(err, ERR_MEMORY, "snapshot: out of memory");
        return NULL;
    }
    s->setup = *setup;
    if (s->setup.io == NULL)
        s->setup.io = &logio_system;
    s->errand = errand_start(work, s, setup->wake, err);
    if (s->errand != NULL)
        return s;
    err_place(err, "snapshot");
    free(s);
    return NULL;
}

void
snapshotter_stop(struct snapshotter *s)
{
    if (s == NULL)
        return;
    errand_stop(s->errand);
    free(s);
}

void
snapshotter_give(struct snapshotter *s, struct snapshot *snapshot)
{
    s->snapshot = *snapshot;
    snapshot_init(snapshot);
    errand_ask(s->errand);
}

bool
snapshotter_take(struct snapshotter *s, struct snapshotter_news *out)
{
    if (!errand_take(s->errand))
        return false;
    *out = s->news;
    return true;
}

/* SPDX-License-Identifier: MIT */
#include "dispatcher/logmap.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/gzip.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEPT ((size_t)16 << 20)      /* bytes of the map that stay, about */
#define HEAD_MAX ((size_t)64 << 20)  /* more than any H and G take */
#define HEAD_LEAST ((size_t)4 << 10) /* tried first */

static struct logmap *
map_new(const char *path, struct err *err)
{
    struct logmap *m = calloc(1, sizeof *m);

    if (m == NULL || (m->path = strdup(path)) == NULL) {
        free(m);
        err_set(err, ERR_MEMORY, "%s: out of memory", path);
        return NULL;
    }
    m->fd = -1;
    m->bytes = "";
    return m;
}

void
logmap_close(struct logmap *m)
{
    if (m == NULL)
        return;
    if (m->len > 0)
        munmap((void *)(uintptr_t)m->bytes, m->len);
    if (m->fd >= 0)
        close(m->fd);
    free(m->path);
    free(m);
}

static int
read_head(struct logmap *m, struct err *err)
{
    if (segment_head_read(m->bytes, m->len, &m->head, err) == 0)
        return 0;
    if (m->len >= 2 && memcmp(m->bytes, "\x1f\x8b", 2) == 0)
        return err_set(err, ERR_LOG,
                       "%s: compressed: open the command.log beside it, or "
                       "unpack it with gzip -dc",
                       m->path);
    err_place(err, "%s", m->path);
    if (err != NULL)
        err->code = ERR_LOG;
    return -1;
}

/* Maps `len` bytes of the file; the map before is gone. */
static int
map_file(struct logmap *m, size_t len, struct err *err)
{
    void *map = mmap(NULL, len, PROT_READ, MAP_PRIVATE, m->fd, 0);

    if (map == MAP_FAILED)
        return err_errno(err, ERR_LOG, "%s: cannot map", m->path);
    if (m->len > 0)
        munmap((void *)(uintptr_t)m->bytes, m->len);
    m->bytes = map;
    m->len = len;
    m->freed = 0;
    return 0;
}

/* The head's payload lies in the map. */
int
logmap_grow(struct logmap *m, struct err *err)
{
    size_t payload =
        m->head.head.size > 0 ? (size_t)(m->head.head.payload - m->bytes) : 0;
    struct stat st;

    if (fstat(m->fd, &st) != 0 || !S_ISREG(st.st_mode))
        return err_set(err, ERR_LOG, "%s: expected a file", m->path);
    if ((size_t)st.st_size <= m->len)
        return 0;
    if (map_file(m, (size_t)st.st_size, err) != 0)
        return -1;
    if (m->head.head.size > 0)
        m->head.head.payload = m->bytes + payload;
    return 1;
}

struct logmap *
logmap_open(const char *path, struct err *err)
{
    struct logmap *m = map_new(path, err);

    if (m == NULL)
        return NULL;
    m->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (m->fd < 0)
        err_errno(err, ERR_LOG, "%s: cannot open", path);
    else if (logmap_grow(m, err) >= 0 && read_head(m, err) == 0)
        return m;
    logmap_close(m);
    return NULL;
}

void
logmap_give_back(struct logmap *m, size_t end)
{
    if (end < m->len)
        end = end / KEPT * KEPT;
    if (end <= m->freed)
        return;
    (void)madvise((void *)(uintptr_t)(m->bytes + m->freed), end - m->freed,
                  MADV_DONTNEED);
    m->freed = end / KEPT * KEPT;
}

bool
logmap_is(const struct logmap *m, const char *path)
{
    struct stat mine, other;

    return fstat(m->fd, &mine) == 0 && stat(path, &other) == 0 &&
           mine.st_dev == other.st_dev && mine.st_ino == other.st_ino;
}

/* ---- compressed ones ---- */

static int
append(void *ctx, const void *data, size_t len, struct err *err)
{
    const struct logmap *m = ctx;

    return file_write_all(m->fd, data, len, err);
}

/* In the folder, where there should be room; in memory where nothing may be
 * written. */
static int
nameless(const char *folder)
{
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    return fd >= 0 ? fd : memfd_create("segment", MFD_CLOEXEC);
}

static int
unpack(struct logmap *m, int from, uint64_t bytes, struct err *err)
{
    if (gzip_unpack(from, bytes, append, m, err) != 0) {
        err_place(err, "%s", m->path);
        if (err != NULL && err->code == ERR_SYSTEM)
            err_place(err, "cannot unpack");
        return -1;
    }
    if (logmap_grow(m, err) < 0 || read_head(m, err) != 0)
        return -1;
    if (m->len == bytes)
        return 0;
    return err_set(err, ERR_LOG, "%s: holds %zu bytes, expected %" PRIu64,
                   m->path, m->len, bytes);
}

struct logmap *
logmap_unpack(const char *path, const char *folder, uint64_t bytes,
              struct err *err)
{
    struct logmap *m = map_new(path, err);
    int from, rc = -1;

    if (m == NULL)
        return NULL;
    from = open(path, O_RDONLY | O_CLOEXEC);
    m->fd = from < 0 ? -1 : nameless(folder);
    if (from < 0)
        err_errno(err, ERR_LOG, "%s: cannot open", path);
    else if (m->fd < 0)
        err_errno(err, ERR_SYSTEM, "%s: cannot unpack", path);
    else
        rc = unpack(m, from, bytes, err);
    if (from >= 0)
        close(from);
    if (rc == 0)
        return m;
    logmap_close(m);
    return NULL;
}

/* ---- peeking ---- */

struct peek {
    struct buf bytes;
    size_t next; /* when to try again */
    struct segment_head *head;
    bool done;
};

static int
look(void *ctx, const void *data, size_t len, struct err *err)
{
    struct peek *p = ctx;

    buf_add(&p->bytes, data, len);
    if (buf_check(&p->bytes, "its head", err) != 0)
        return -1;
    if (p->bytes.len < p->next)
        return 0;
    p->next = 2 * p->bytes.len;
    if (segment_head_read(p->bytes.data, p->bytes.len, p->head, err) != 0)
        return -1;
    p->done = p->head->end != RECORD_PARTIAL;
    return p->done;
}

static int
peek_packed(const char *path, struct segment_head *head, struct err *err)
{
    struct peek p = {.next = HEAD_LEAST, .head = head};
    int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

    if (fd < 0)
        return errno == ENOENT
                   ? 0
                   : err_errno(err, ERR_LOG, "%s: cannot open", path);
    buf_init(&p.bytes, HEAD_MAX);
    rc = gzip_unpack(fd, HEAD_MAX, look, &p, err);
    if (rc == 0 && !p.done) { /* it is shorter than what is tried first */
        rc = segment_head_read(buf_text(&p.bytes), p.bytes.len, head, err);
    }
    close(fd);
    buf_fini(&p.bytes);
    return rc == 0 ? 1 : err_place(err, "%s", path);
}

int
logmap_peek(const char *path, enum segment_file file, struct segment_head *head,
            struct err *err)
{
    struct logmap *m;

    if (file == SEGMENT_GZ)
        return peek_packed(path, head, err);
    if (access(path, F_OK) != 0)
        return 0;
    m = logmap_open(path, err);
    if (m == NULL) /* or it was compressed just now */
        return access(path, F_OK) != 0 ? 0 : -1;
    *head = m->head;
    logmap_close(m);
    return 1;
}

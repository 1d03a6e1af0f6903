/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * The oldest first, and each step on stable storage before the next: whenever
 * it is cut off, what is left is a chain without a gap.  A compressed segment
 * is unpacked for a check before the plain one is removed. */
#include "dispatcher/segments.h"

#include "core/err.h"
#include "core/file.h"
#include "core/gzip.h"
#include "dispatcher/logio.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOG "command.log"
#define NEW ".new"

static int
no_memory(struct err *err)
{
    return err_set(err, ERR_MEMORY, "old segments: out of memory");
}

/* What is not there need not be removed. */
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

static bool
is_same(const char *a, const char *b)
{
    struct stat one, other;

    return stat(a, &one) == 0 && stat(b, &other) == 0 &&
           one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/* "PATH.new" */
static char *
new_path(const char *path)
{
    size_t len = path == NULL ? 0 : strlen(path);
    char *fresh = path == NULL ? NULL : malloc(len + sizeof NEW);

    if (fresh != NULL) {
        memcpy(fresh, path, len);
        memcpy(fresh + len, NEW, sizeof NEW);
    }
    return fresh;
}

static int
mend_one(const char *folder, const char *log, uint64_t n, struct err *err)
{
    char *plain = segments_path(folder, n, SEGMENT_PLAIN);
    int rc = plain == NULL ? no_memory(err) : 0;

    if (rc == 0 && is_same(plain, log))
        rc = remove_file(plain, &logio_system, err);
    free(plain);
    return rc;
}

/* Of any segment: its own may be gone. */
static int
remove_unfinished(const char *folder, struct err *err)
{
    DIR *dir = opendir(folder);
    const struct dirent *e;
    int rc = 0;

    while (dir != NULL && rc == 0 && (e = readdir(dir)) != NULL) {
        char *path;

        if (!segments_is_unfinished(e->d_name))
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
    char *log = file_join(folder, LOG);
    uint64_t *numbers = NULL;
    size_t n = 0;
    int rc = log == NULL ? no_memory(err) : remove_unfinished(folder, err);

    /* A folder that cannot be read is for who needs its segments to tell. */
    if (rc == 0 &&
        segments_list(folder, SEGMENT_PLAIN, &numbers, &n, NULL) != 0)
        n = 0;
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = mend_one(folder, log, numbers[i], err);
    free(numbers);
    free(log);
    return rc;
}

/* ---- compressing ---- */

struct packing {
    const struct logio *io;
    int fd;
    off_t at;
    uint64_t bytes; /* unpacked again */
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

/* Into p->fd, checked, and on stable storage. */
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
    char *fresh = new_path(packed);
    int rc = plain == NULL || fresh == NULL ? no_memory(err)
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

/* Whether something stands for what is dropped. */
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

/* Those of one kind, as far as they are to go; `most` at once, since a stop
 * waits until it is done. */
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

    /* Compressed ones are older. */
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

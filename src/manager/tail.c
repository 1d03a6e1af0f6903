/* SPDX-License-Identifier: MIT */
#include "manager/tail.h"

#include "core/err.h"
#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK 65536

void
tail_attach(struct tail *t, int fd, size_t max_line)
{
    *t = (struct tail){.fd = fd, .max_line = max_line};
    buf_init(&t->in, max_line + CHUNK + 1);
}

int
tail_open(struct tail *t, const char *path, size_t max_line, struct err *err)
{
    int fd = file_open_plain(path, O_RDONLY);

    tail_attach(t, fd, max_line);
    if (fd < 0)
        return err_errno(err, ERR_SYSTEM, "%s: cannot open", path);
    return 0;
}

void
tail_close(struct tail *t)
{
    if (t->fd >= 0)
        close(t->fd);
    t->fd = -1;
    buf_fini(&t->in);
}

/* Hands out one line, which has room for a NUL behind its `len` bytes. */
static void
hand_out(struct tail *t, char *line, size_t len, bool too_long, tail_line *take,
         void *ctx)
{
    char kept = line[len];

    if (t->skipping) { /* its beginning was handed out before */
        t->skipping = false;
        return;
    }
    t->lines++;
    line[len] = '\0';
    take(ctx, line, len, too_long);
    line[len] = kept;
}

static void
hand_out_all(struct tail *t, tail_line *take, void *ctx)
{
    char *end = t->in.data + t->in.len;
    char *at = t->in.data, *newline;

    while ((newline = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        size_t len = (size_t)(newline - at);

        t->at = t->base + (newline + 1 - t->in.data);
        hand_out(t, at, len, len + 1 > t->max_line, take, ctx);
        at = newline + 1;
    }
    t->base += at - t->in.data;
    buf_consume(&t->in, (size_t)(at - t->in.data));
    if (t->in.len < t->max_line)
        return;
    if (!t->skipping) {
        hand_out(t, t->in.data, t->in.len, true, take, ctx);
        t->skipping = true;
    }
    t->base += (int64_t)t->in.len;
    buf_clear(&t->in);
}

int
tail_read(struct tail *t, size_t max_bytes, tail_line *take, void *ctx,
          struct err *err)
{
    for (size_t done = 0; done < max_bytes;) {
        char *to = buf_reserve(&t->in, CHUNK);
        ssize_t n;

        if (to == NULL)
            return buf_check(&t->in, "a line", err);
        n = read(t->fd, to, CHUNK);
        if (n < 0 && errno == EINTR)
            continue;
        t->ended = n == 0;
        if (n == 0 || (n < 0 && errno == EAGAIN))
            return 0;
        if (n < 0)
            return err_errno(err, ERR_SYSTEM, "cannot read");
        t->in.len += (size_t)n;
        done += (size_t)n;
        hand_out_all(t, take, ctx);
    }
    return 1;
}

int
tail_drain(struct tail *t, size_t max_bytes, tail_line *take, void *ctx,
           struct err *err)
{
    off_t at = lseek(t->fd, 0, SEEK_CUR);
    struct stat st;
    size_t left;
    int rc;

    if (at < 0 || fstat(t->fd, &st) != 0)
        return err_errno(err, ERR_SYSTEM, "cannot tell the size");
    if (t->end == 0)
        t->end = st.st_size;
    if (t->end <= at)
        return 0;
    left = (size_t)(t->end - at);
    rc = tail_read(t, left < max_bytes ? left : max_bytes, take, ctx, err);
    return rc > 0 ? left > max_bytes : rc;
}

void
tail_rest(struct tail *t, tail_line *take, void *ctx)
{
    if (t->in.len > 0)
        hand_out(t, t->in.data, t->in.len, false, take, ctx);
    buf_clear(&t->in);
}

/* SPDX-License-Identifier: MIT */
#include "manager/nnifile.h"

#include "core/err.h"
#include "core/file.h"
#include "core/visible.h"
#include "trial/files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK 65536
#define CODE_LEN (sizeof TRIAL_NNI_CODE - 1)
#define HEADER_LEN (CODE_LEN + TRIAL_NNI_DIGITS)
#define SHOWN 16 /* bytes of a bad header in an error text */

int
nnifile_open(struct nnifile *f, const char *path, struct err *err)
{
    *f = (struct nnifile){0};
    buf_init(&f->in, HEADER_LEN + TRIAL_NNI_RECORD_MAX + CHUNK);
    f->fd = file_open_plain(path, O_RDONLY);
    if (f->fd < 0)
        return err_errno(err, ERR_SYSTEM, "%s: cannot open", path);
    return 0;
}

void
nnifile_close(struct nnifile *f)
{
    if (f->fd >= 0)
        close(f->fd);
    f->fd = -1;
    buf_fini(&f->in);
}

/* Whether this can be a header or the beginning of one; *len is then the length
 * of the payload, as far as its digits are there. */
static bool
read_header(const char *text, size_t n, size_t *len)
{
    *len = 0;
    for (size_t i = 0; i < n && i < CODE_LEN; i++)
        if (text[i] != TRIAL_NNI_CODE[i])
            return false;
    for (size_t i = CODE_LEN; i < n && i < HEADER_LEN; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        *len = *len * 10 + (size_t)(text[i] - '0');
    }
    return true;
}

static int
refuse_header(struct nnifile *f, const char *text, size_t n, struct err *err)
{
    struct buf shown;

    f->broken = true;
    buf_init(&shown, 8 * SHOWN);
    visible_text(&shown, text, n, SHOWN);
    err_set(err, ERR_INPUT,
            "byte %lld: expected " TRIAL_NNI_CODE
            " and %d digits, got '%s'; what follows is not read",
            (long long)f->at, TRIAL_NNI_DIGITS, buf_text(&shown));
    buf_fini(&shown);
    buf_clear(&f->in);
    return -1;
}

/* Hands out the complete records and drops them. */
static int
hand_out_records(struct nnifile *f, nnifile_take *take, void *ctx,
                 struct err *err)
{
    const char *text = f->in.data;
    size_t left = f->in.len, len;

    for (;;) {
        if (!read_header(text, left, &len))
            return refuse_header(f, text, left, err);
        if (left < HEADER_LEN || left - HEADER_LEN < len)
            break;
        take(ctx, text + HEADER_LEN, len, f->at);
        text += HEADER_LEN + len;
        left -= HEADER_LEN + len;
        f->at += (int64_t)(HEADER_LEN + len);
    }
    buf_consume(&f->in, f->in.len - left);
    return 0;
}

/* Where the next read(2) begins, and how long the file is. */
static int
find_unread(struct nnifile *f, int64_t *from, int64_t *size, struct err *err)
{
    struct stat st;

    if (fstat(f->fd, &st) != 0)
        return err_errno(err, ERR_SYSTEM, "cannot tell the size");
    if (st.st_size < f->at + (int64_t)f->in.len) {
        buf_clear(&f->in);
        f->at = 0;
    }
    *from = f->at + (int64_t)f->in.len;
    *size = st.st_size;
    return 0;
}

int
nnifile_read(struct nnifile *f, size_t max_bytes, nnifile_take *take, void *ctx,
             struct err *err)
{
    int64_t from, size;

    if (f->broken)
        return 0;
    if (find_unread(f, &from, &size, err) != 0)
        return -1;
    for (size_t done = 0; done < max_bytes;) {
        char *to = buf_reserve(&f->in, CHUNK);
        ssize_t n;

        if (to == NULL)
            return buf_check(&f->in, "a record", err);
        n = pread(f->fd, to, CHUNK, (off_t)from);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            return 0;
        if (n < 0)
            return err_errno(err, ERR_SYSTEM, "cannot read");
        f->in.len += (size_t)n;
        done += (size_t)n;
        from += n;
        if (hand_out_records(f, take, ctx, err) != 0)
            return -1;
    }
    return 1;
}

int
nnifile_drain(struct nnifile *f, size_t max_bytes, nnifile_take *take,
              void *ctx, struct err *err)
{
    int64_t from, size;
    size_t left;
    int rc;

    if (f->broken)
        return 0;
    if (find_unread(f, &from, &size, err) != 0)
        return -1;
    if (f->end == 0)
        f->end = size;
    if (f->end <= from)
        return 0;
    left = (size_t)(f->end - from);
    rc = nnifile_read(f, left < max_bytes ? left : max_bytes, take, ctx, err);
    return rc > 0 ? left > max_bytes : rc;
}

int
nnifile_rest(const struct nnifile *f, struct err *err)
{
    if (f->in.len == 0 || f->broken)
        return 0;
    return err_set(err, ERR_INPUT,
                   "byte %lld: the last record is incomplete, %zu bytes of it "
                   "are there",
                   (long long)f->at, f->in.len);
}

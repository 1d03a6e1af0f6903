/* SPDX-License-Identifier: MIT */
#include "core/gzip.h"

#include "core/err.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define PIECE ((size_t)64 << 10)
#define WINDOW                                                    \
    (15 + 16) /* tells zlib to read and write gzip's head and end \
               */

struct pieces {
    unsigned char in[PIECE], out[PIECE];
    off_t at;      /* offset in the file */
    uint64_t left; /* bytes from there on that are read */
};

/* Reads the next bytes of the file; 0: there are no more. */
static ssize_t
read_piece(int fd, struct pieces *p, struct err *err)
{
    size_t most = p->left < sizeof p->in ? (size_t)p->left : sizeof p->in;
    ssize_t n;

    do
        n = pread(fd, p->in, most, p->at);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return err_errno(err, ERR_SYSTEM, "cannot read");
    p->at += n;
    p->left -= (uint64_t)n;
    return n;
}

static int
no_memory(struct err *err)
{
    return err_set(err, ERR_MEMORY, "out of memory");
}

/* ---- packing ---- */

/* Packs the input that was read; `last`: to the end. */
static int
deflate_piece(z_stream *z, struct pieces *p, bool last, gzip_take *take,
              void *ctx, struct err *err)
{
    do {
        int rc;

        z->next_out = p->out;
        z->avail_out = sizeof p->out;
        deflate(z, last ? Z_FINISH : Z_NO_FLUSH);
        rc = take(ctx, p->out, sizeof p->out - z->avail_out, err);
        if (rc != 0)
            return rc;
    } while (z->avail_out == 0);
    return 0;
}

int
gzip_pack(int from, gzip_take *take, void *ctx, struct err *err)
{
    struct pieces *p = malloc(sizeof *p);
    z_stream z = {.zalloc = Z_NULL};
    ssize_t n;
    int rc;

    if (p == NULL || deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW,
                                  8, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(p);
        return no_memory(err);
    }
    p->at = 0;
    p->left = UINT64_MAX;
    do {
        n = read_piece(from, p, err);
        z.next_in = p->in;
        z.avail_in = n > 0 ? (uInt)n : 0;
        rc = n < 0 ? -1 : deflate_piece(&z, p, n == 0, take, ctx, err);
    } while (n > 0 && rc == 0);
    deflateEnd(&z);
    free(p);
    return rc < 0 ? -1 : 0;
}

/* ---- a member whose head the caller writes ---- */

#define LEVEL 1 /* a third of the time of the default, a fifth more bytes */

struct gzip_body {
    z_stream z;
    uint32_t crc, size; /* of what was added */
    gzip_take *take;
    void *ctx;
    unsigned char out[PIECE];
};

struct gzip_body *
gzip_body_new(gzip_take *take, void *ctx)
{
    struct gzip_body *b = calloc(1, sizeof *b);

    if (b == NULL || deflateInit2(&b->z, LEVEL, Z_DEFLATED, -15, 8,
                                  Z_DEFAULT_STRATEGY) != Z_OK) {
        free(b);
        return NULL;
    }
    b->take = take;
    b->ctx = ctx;
    b->z.next_out = b->out;
    b->z.avail_out = sizeof b->out;
    return b;
}

/* Gives away what was made so far. */
static int
pass_on(struct gzip_body *b, struct err *err)
{
    size_t n = sizeof b->out - b->z.avail_out;

    b->z.next_out = b->out;
    b->z.avail_out = sizeof b->out;
    return n == 0 ? 0 : b->take(b->ctx, b->out, n, err);
}

int
gzip_body_add(struct gzip_body *b, const void *data, size_t len,
              struct err *err)
{
    const unsigned char *at = data;

    while (len > 0) {
        uInt n = len < PIECE ? (uInt)len : (uInt)PIECE;

        b->crc = (uint32_t)crc32(b->crc, at, n);
        b->size += n;
        memcpy(&b->z.next_in, &at, sizeof at); /* zlib may lack its const */
        b->z.avail_in = n;
        while (b->z.avail_in > 0) {
            deflate(&b->z, Z_NO_FLUSH);
            if (b->z.avail_out == 0 && pass_on(b, err) != 0)
                return -1;
        }
        at += n;
        len -= n;
    }
    return 0;
}

int
gzip_body_end(struct gzip_body *b, struct err *err)
{
    unsigned char end[8];

    while (deflate(&b->z, Z_FINISH) != Z_STREAM_END)
        if (pass_on(b, err) != 0)
            return -1;
    for (int i = 0; i < 4; i++) {
        end[i] = (unsigned char)(b->crc >> 8 * i);
        end[4 + i] = (unsigned char)(b->size >> 8 * i);
    }
    return pass_on(b, err) != 0 || b->take(b->ctx, end, sizeof end, err) != 0
               ? -1
               : 0;
}

void
gzip_body_free(struct gzip_body *b)
{
    if (b == NULL)
        return;
    deflateEnd(&b->z);
    free(b);
}

uint32_t
gzip_crc(const void *data, size_t len)
{
    return (uint32_t)crc32(0, data, (uInt)len);
}

/* ---- unpacking ---- */

static int
wrong(int status, const z_stream *z, struct err *err)
{
    if (status == Z_MEM_ERROR)
        return no_memory(err);
    return err_set(err, ERR_LOG, "expected what gzip packed: %s",
                   z->msg != NULL ? z->msg : "it makes no sense");
}

/* Unpacks the input that was read.  2: the packed file ends here. */
static int
inflate_piece(z_stream *z, struct pieces *p, uint64_t *left, gzip_take *take,
              void *ctx, struct err *err)
{
    int status, rc;

    do {
        size_t n;

        z->next_out = p->out;
        z->avail_out = sizeof p->out;
        status = inflate(z, Z_NO_FLUSH);
        if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
            return wrong(status, z, err);
        n = sizeof p->out - z->avail_out;
        if (n > *left)
            return err_set(err, ERR_LOG, "holds more than it should");
        *left -= n;
        rc = n == 0 ? 0 : take(ctx, p->out, n, err);
    } while (rc == 0 && status != Z_STREAM_END && z->avail_out == 0);
    return rc == 0 && status == Z_STREAM_END ? 2 : rc;
}

int
gzip_unpack(int from, uint64_t max, gzip_take *take, void *ctx, struct err *err)
{
    return gzip_unpack_part(from, 0, UINT64_MAX, max, take, ctx, err);
}

int
gzip_unpack_part(int from, uint64_t at, uint64_t size, uint64_t max,
                 gzip_take *take, void *ctx, struct err *err)
{
    struct pieces *p = malloc(sizeof *p);
    z_stream z = {.zalloc = Z_NULL};
    uint64_t left = max;
    ssize_t n;
    int rc;

    if (p == NULL || inflateInit2(&z, WINDOW) != Z_OK) {
        free(p);
        return no_memory(err);
    }
    p->at = (off_t)at;
    p->left = size;
    do {
        n = read_piece(from, p, err);
        z.next_in = p->in;
        z.avail_in = n > 0 ? (uInt)n : 0;
        rc = n > 0 ? inflate_piece(&z, p, &left, take, ctx, err) : -1;
    } while (rc == 0);
    if (n == 0)
        rc = err_set(err, ERR_LOG, "is cut off");
    else if (rc == 2 && (z.avail_in > 0 || read_piece(from, p, err) != 0))
        rc = err_set(err, ERR_LOG, "has bytes behind its end");
    inflateEnd(&z);
    free(p);
    return rc < 0 ? -1 : 0;
}

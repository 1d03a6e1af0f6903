/* SPDX-License-Identifier: MIT */
#include "core/gzip.h"

#include "core/err.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#define PIECE ((size_t)64 << 10)
#define WINDOW                                                    \
    (15 + 16) /* tells zlib to read and write gzip's head and end \
               */

struct pieces {
    unsigned char in[PIECE], out[PIECE];
    off_t at; /* offset in the file */
};

/* Reads the next bytes of the file; 0: its end. */
static ssize_t
read_piece(int fd, struct pieces *p, struct err *err)
{
    ssize_t n;

    do
        n = pread(fd, p->in, sizeof p->in, p->at);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return err_errno(err, ERR_SYSTEM, "cannot read");
    p->at += n;
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
    struct pieces *p = malloc(sizeof *p);
    z_stream z = {.zalloc = Z_NULL};
    uint64_t left = max;
    ssize_t n;
    int rc;

    if (p == NULL || inflateInit2(&z, WINDOW) != Z_OK) {
        free(p);
        return no_memory(err);
    }
    p->at = 0;
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

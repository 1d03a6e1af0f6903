/* SPDX-License-Identifier: MIT */
/* nnifile.h - the records of the metrics file of NNI's trial API
 * (trial/files.h), read while the trial still appends to it.  A record that is
 * not complete is not there yet.  One thread. */
#ifndef MANAGER_NNIFILE_H
#define MANAGER_NNIFILE_H

#include "core/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct err;

struct nnifile {
    int fd;        /* -1: not open */
    struct buf in; /* what is read and not handed out yet */
    int64_t at;    /* where that begins in the file */
    int64_t end;   /* where nnifile_drain() stops; 0: it was not called yet */
    bool broken;   /* where the next record begins is not known */
};

/* The payload of one record; valid during the call.  `at` is where the record
 * begins. */
typedef void nnifile_take(void *ctx, const char *json, size_t len, int64_t at);

/* Opens an existing file. */
int nnifile_open(struct nnifile *f, const char *path, struct err *err);
void nnifile_close(struct nnifile *f); /* a closed one too */

/* Reads about max_bytes at most and hands out the finished records.  Returns
 * 1 when there may be more, 0 at the end of the file, -1 on failure; a header
 * that is none is one (ERR_INPUT, with its offset), and the file then stays at
 * its end.  A file that has become shorter is read from its beginning: some of
 * NNI's versions empty it when a program of the trial starts. */
int nnifile_read(struct nnifile *f, size_t max_bytes, nnifile_take *take,
                 void *ctx, struct err *err);

/* Reads what the file held at the first call, about max_bytes of it at most.
 * Returns like nnifile_read(). */
int nnifile_drain(struct nnifile *f, size_t max_bytes, nnifile_take *take,
                  void *ctx, struct err *err);

/* The writer is gone: -1 when it left a part of a record. */
int nnifile_rest(const struct nnifile *f, struct err *err);

#endif

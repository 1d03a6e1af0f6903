/* SPDX-License-Identifier: MIT */
/* repair.h - keeps what is provable of a damaged log, in a new file.
 *
 * Kept are the whole records up to the damage.  Where the bytes up to the
 * next whole record become one record by turning exactly one bit, and no
 * other bit would do, that bit is turned and the walk goes on.  Whole records
 * behind damage that cannot be undone are reported and not kept: what came
 * before them is not known.  The log itself is only read. */
#ifndef LOG_REPAIR_H
#define LOG_REPAIR_H

#include <stdint.h>

struct err;

enum repair_what {
    REPAIR_CORRECTED, /* a record with one wrong bit, in byte `first` */
    REPAIR_KEPT,      /* whole records from the front on, once */
    REPAIR_LOST,      /* bytes that are no record */
    REPAIR_BEHIND,    /* whole records behind damage, which are not kept */
    REPAIR_GIVEN_UP,  /* bytes that were not searched to the end: they look like
                         records too often */
};

struct repair_find {
    enum repair_what what;
    uint64_t offset, bytes;
    uint64_t records;     /* KEPT, BEHIND */
    uint64_t first, last; /* their arrival numbers; 0: there are none */
    const char *why;      /* LOST: what was expected; lent for the call */
};

struct repair_setup {
    /* The damaged log, and the new file, which must not exist. */
    const char *log, *to;
    void (*found)(void *ctx, const struct repair_find *find);
    void *ctx;
};

/* Repairs a log.  -1: err tells, and there is no new file.  A log of which
 * nothing can be kept is an error (ERR_LOG). */
int repair_run(const struct repair_setup *setup, struct err *err);

#endif

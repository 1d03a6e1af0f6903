/* SPDX-License-Identifier: MIT */
#include "store/logwalk.h"

#include "log/log.h"

#include <string.h>

#define CODE_SIZE 2

static int
walk(struct log_reader *log, const char code[2], logwalk_take *take, void *ctx,
     struct err *err)
{
    enum log_status status;
    struct record r;

    while ((status = log_next(log, &r, err)) == LOG_RECORD)
        if (r.kind == RECORD_IN && r.len >= CODE_SIZE &&
            memcmp(r.payload, code, CODE_SIZE) == 0 &&
            take(ctx, &r, r.payload + CODE_SIZE, r.len - CODE_SIZE, err) != 0)
            return -1;
    return status == LOG_DAMAGED ? -1 : 0;
}

int
logwalk(const char *folder, const char code[2], logwalk_take *take, void *ctx,
        bool *lacks, struct err *err)
{
    struct log_reader *log = log_open_in(folder, 0, err);
    int rc = log == NULL ? -1 : walk(log, code, take, ctx, err);

    *lacks = log != NULL && log_lacks(log, NULL);
    log_close(log);
    return rc;
}

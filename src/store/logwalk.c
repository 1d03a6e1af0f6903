/* SPDX-License-Identifier: MIT */
#include "store/logwalk.h"

#include "core/err.h"
#include "core/file.h"
#include "dispatcher/commandlog.h"
#include "dispatcher/logfile.h"
#include "record.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CODE_SIZE 2

static int
walk(struct logfile *log, const char code[2], logwalk_take *take, void *ctx,
     struct err *err)
{
    enum logfile_status status;
    struct record r;

    while ((status = logfile_next(log, &r, err)) == LOGFILE_RECORD)
        if (r.kind == RECORD_IN && r.len >= CODE_SIZE &&
            memcmp(r.payload, code, CODE_SIZE) == 0 &&
            take(ctx, &r, r.payload + CODE_SIZE, r.len - CODE_SIZE, err) != 0)
            return -1;
    return status == LOGFILE_DAMAGED ? -1 : 0;
}

int
logwalk(const char *folder, const char code[2], logwalk_take *take, void *ctx,
        bool *lacks, struct err *err)
{
    char *path = file_join(folder, COMMANDLOG_NAME);
    struct logfile *log = NULL;
    int rc = 0;

    *lacks = false;
    if (path == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    if (access(path, F_OK) == 0) {
        log = logfile_open(path, err);
        *lacks = log != NULL && logfile_lacks(log, NULL);
        rc = log == NULL ? -1 : walk(log, code, take, ctx, err);
    }
    logfile_close(log);
    free(path);
    return rc;
}

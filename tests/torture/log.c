/* SPDX-License-Identifier: MIT */
#include "torture.h"

#include "core/err.h"
#include "dispatcher/commandlog.h"
#include "dispatcher/logfile.h"
#include "dispatcher/segments.h"
#include "frame.h"

#include <unistd.h>

/* head, mark, 29 of each direction, the mark that seals the first segment,
 * skipped, end, mark */
#define RECORDS (2 + 29 * 2 + 1 + 3)

static int
write_log(struct err *err)
{
    struct commandlog *l = commandlog_create("log", "{}", 2, NULL, err);
    struct frame f = {.code = "GE", .payload = "1", .len = 1};
    struct emission e = {.cause = 1, .code = CMD_INITIALIZED, .payload = ""};
    int rc;

    if (l == NULL)
        return -1;
    for (uint64_t i = 1; i < 30; i++) {
        commandlog_in(l, i, &f);
        commandlog_out(l, &e);
    }
    rc = commandlog_flush(l, err);
    if (rc == 0)
        rc = commandlog_rotate(l, 29, 29, err) == COMMANDLOG_OK ? 0 : -1;
    commandlog_skipped(l, 3, "t because", 9);
    if (rc == 0)
        rc = commandlog_flush(l, err);
    commandlog_end(l, 30, "well");
    if (rc == 0)
        rc = commandlog_flush(l, err);
    if (rc == 0)
        rc = commandlog_sync(l, err);
    commandlog_free(l);
    return rc;
}

static int
read_log(struct err *err)
{
    struct logfile *f = logfile_open("log/" COMMANDLOG_NAME, err);
    enum logfile_status status = LOGFILE_DAMAGED;
    struct record r;
    size_t n = 0;

    while (f != NULL && (status = logfile_next(f, &r, err)) == LOGFILE_RECORD)
        n++;
    logfile_close(f);
    if (status != LOGFILE_END)
        return -1;
    return n == RECORDS ? 0 : err_set(err, ERR_INPUT, "%zu records", n);
}

/* Also of a compressed one. */
static int
log_there_and_back(struct err *err)
{
    char said[SEGMENTS_SAID_MAX];
    int rc = write_log(err);

    if (rc == 0)
        rc = read_log(err);
    if (rc == 0)
        rc = segments_retire("log", 1, OLD_COMPRESS, NULL, said, err);
    if (rc == 0)
        rc = read_log(err);
    unlink("log/" COMMANDLOG_NAME);
    unlink("log/command.1.log");
    unlink("log/command.1.log.gz");
    unlink("log/lock");
    rmdir("log");
    return rc;
}

const struct torture_case torture_log[] = {
    {"log", log_there_and_back, 1 /* asprintf has a second way */},
    {NULL, NULL, 0}};

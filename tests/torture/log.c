/* SPDX-License-Identifier: MIT */
#include "torture.h"

#include "core/err.h"
#include "frame.h"
#include "dispatcher/emission.h"
#include "log/log.h"
#include "log/segments.h"
#include "log/writer.h"

#include <unistd.h>

/* head, mark, 29 of each direction, the mark that seals the first segment,
 * skipped, end, mark */
#define RECORDS (2 + 29 * 2 + 1 + 3)

static int
write_log(struct err *err)
{
    struct logwriter *l = logwriter_create("log", "{}", 2, NULL, err);
    struct frame f = {.code = "GE", .payload = "1", .len = 1};
    struct emission e = {.cause = 1, .code = CMD_INITIALIZED, .payload = ""};
    int rc;

    if (l == NULL)
        return -1;
    for (uint64_t i = 1; i < 30; i++) {
        logwriter_frame(l, RECORD_IN, i, &f);
        emission_record(&e, l);
    }
    rc = logwriter_flush(l, err);
    if (rc == 0)
        rc = logwriter_rotate(l, 29, 29, err) == LOGWRITER_OK ? 0 : -1;
    logwriter_add(l, RECORD_SKIPPED, 3, "t because", 9);
    if (rc == 0)
        rc = logwriter_flush(l, err);
    logwriter_text(l, RECORD_END, 30, "well");
    if (rc == 0)
        rc = logwriter_flush(l, err);
    if (rc == 0)
        rc = logwriter_sync(l, err);
    logwriter_free(l);
    return rc;
}

static int
read_log(struct err *err)
{
    struct log_reader *f = log_open("log/" LOG_NAME, 0, err);
    enum log_status status = LOG_DAMAGED;
    struct record r;
    size_t n = 0;

    while (f != NULL && (status = log_next(f, &r, err)) == LOG_RECORD)
        n++;
    log_close(f);
    if (status != LOG_END)
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
    unlink("log/" LOG_NAME);
    unlink("log/command.1.log");
    unlink("log/command.1.log.gz");
    unlink("log/lock");
    rmdir("log");
    return rc;
}

const struct torture_case torture_log[] = {
    {"log", log_there_and_back, 1 /* asprintf has a second way */},
    {NULL, NULL, 0}};

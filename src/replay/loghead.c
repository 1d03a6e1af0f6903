/* SPDX-License-Identifier: MIT */
#include "replay/loghead.h"

#include "core/err.h"
#include "dispatcher/logfile.h"
#include "dispatcher/session.h"
#include "json.h"
#include "record.h"

static int
read_record(struct logfile *file, const char *path, struct record *head,
            struct err *err)
{
    enum logfile_status status = logfile_next(file, head, err);

    if (status == LOGFILE_DAMAGED)
        return -1;
    if (status != LOGFILE_RECORD || head->kind != RECORD_HEAD)
        return err_set(err, ERR_LOG, "%s: expected a head record first", path);
    return 0;
}

int
loghead_check_whole(const struct logfile *file, struct err *err)
{
    struct err why;

    if (!logfile_lacks(file, &why))
        return 0;
    return err_set(err, why.code,
                   "%s; expected a log that has them all (replay --verify, "
                   "explain, log and resume can do without dropped ones)",
                   why.text);
}

struct logfile *
loghead_open(const char *path, unsigned flags, struct record *head,
             struct err *err)
{
    struct logfile *file = logfile_open(path, err);

    if (file != NULL && (flags & LOGHEAD_KEEP))
        logfile_keep(file);
    if (file != NULL &&
        (!(flags & LOGHEAD_WHOLE) || loghead_check_whole(file, err) == 0) &&
        read_record(file, path, head, err) == 0)
        return file;
    logfile_close(file);
    return NULL;
}

struct json *
loghead_read(const char *path, const struct record *head,
             struct session_setup *setup, struct err *err)
{
    struct json *doc = json_parse(head->payload, head->len, JSON_STRICT, err);

    if (doc != NULL && session_read_head(json_root(doc), setup, err) == 0)
        return doc;
    err_place(err, "%s", path);
    json_free(doc);
    return NULL;
}

/* SPDX-License-Identifier: MIT */
#include "dispatcher/logvoid.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "dispatcher/commandlog.h"
#include "dispatcher/segments.h"
#include "lockfile.h"
#include "record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD_MAX ((size_t)8 << 20) /* what is longer got beyond its head */

/* What comes behind a head is written when that is durable. */
static bool
has_more(const char *bytes, size_t len)
{
    static const char mark[] = " M 0 ";
    struct record r;

    for (size_t i = 0; i < len; i++)
        if (record_next(bytes + i, len - i, SIZE_MAX, &r, NULL) ==
                RECORD_READY &&
            r.kind != RECORD_HEAD)
            return true;
    return memmem(bytes, len, mark, sizeof mark - 1) != NULL;
}

/* The head's record is cut off. */
static bool
is_torn(const char *bytes, size_t len)
{
    size_t at = record_read_version(bytes, len, NULL);
    struct record r;

    return at > 0 && record_next(bytes + at, len - at, SIZE_MAX, &r, NULL) ==
                         RECORD_PARTIAL;
}

static bool
is_void(const char *bytes, size_t len)
{
    struct buf version;
    bool within;

    while (len > 0 && bytes[len - 1] == '\0') /* never written */
        len--;
    buf_init(&version, 4096);
    record_write_version(&version);
    within = len < version.len && memcmp(bytes, version.data, len) == 0;
    buf_fini(&version);
    if (within)
        return true;
    return (memcmp(bytes, RECORD_MAGIC, sizeof RECORD_MAGIC - 1) != 0 ||
            is_torn(bytes, len)) &&
           !has_more(bytes, len);
}

bool
logvoid(const char *folder)
{
    char *path = file_join(folder, COMMANDLOG_NAME);
    char *other = segments_any(folder);
    struct buf text;
    bool yes;

    buf_init(&text, 2 * HEAD_MAX);
    yes = path != NULL && other == NULL &&
          file_read(path, HEAD_MAX, &text, NULL) == 0 &&
          is_void(buf_text(&text), text.len);
    buf_fini(&text);
    free(path);
    free(other);
    return yes;
}

bool
logvoid_left(const char *folder)
{
    char *path = file_join(folder, COMMANDLOG_NAME);
    char *lock = file_join(folder, LOCKFILE_NAME);
    char *other = segments_any(folder);
    bool lonely = path != NULL && lock != NULL && other == NULL &&
                  access(path, F_OK) != 0 && access(lock, F_OK) == 0;

    free(path);
    free(lock);
    free(other);
    return lonely || logvoid(folder);
}

int
logvoid_set_aside(const char *folder, struct err *err)
{
    char *path, *away;
    int rc = 0;

    if (!logvoid(folder))
        return 0;
    path = file_join(folder, COMMANDLOG_NAME);
    away = file_join(folder, COMMANDLOG_NAME ".void");
    if (path == NULL || away == NULL)
        rc = err_set(err, ERR_MEMORY, "command log: out of memory");
    else if (rename(path, away) != 0)
        rc = err_errno(err, ERR_LOG, "%s: cannot be set aside", path);
    free(path);
    free(away);
    return rc;
}

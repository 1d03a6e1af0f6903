/* SPDX-License-Identifier: MIT */
#include "dispatcher/logvoid.h"

#include "core/buf.h"
#include "core/file.h"
#include "dispatcher/commandlog.h"
#include "dispatcher/segments.h"
#include "record.h"

#include <stdlib.h>
#include <string.h>

#define HEAD_MAX ((size_t)8 << 20) /* what is longer got beyond its head */

static bool
is_void(const char *bytes, size_t len)
{
    static const char mark[] = " M 0 ", name[] = "tunepipe-log ";
    struct buf version;
    bool begun;

    buf_init(&version, 4096);
    record_write_version(&version);
    begun = len >= version.len || memcmp(bytes, version.data, len) != 0;
    buf_fini(&version);
    if (!begun)
        return true;
    return memcmp(bytes, name, sizeof name - 1) != 0 &&
           memmem(bytes, len, mark, sizeof mark - 1) == NULL;
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

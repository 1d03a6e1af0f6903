/* SPDX-License-Identifier: MIT */
#include "cli/nni_crashes.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "log/lock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CRASH_NAME "command.crash"
#define CRASH_MAX 256 /* bytes of that file */

int
nni_crashes_note(const char *folder, const struct lockfile *lock,
                 struct err *err)
{
    static const char sides[] = {
        [LOCKFILE_DEFAULT] = 't', [LOCKFILE_ASSESSOR] = 'a'};
    char *path = file_join(folder, CRASH_NAME);
    char text[CRASH_MAX] = "";
    int rc = 0;

    for (int i = 0; i < LOCKFILE_SLOTS; i++) {
        uint64_t at = lock->slots[i];
        size_t len = strlen(text);

        if (at > 0 && at < LOCKFILE_LOADING)
            snprintf(text + len, sizeof text - len, "%c:%" PRIu64 "\n",
                     sides[i], at);
    }
    if (path == NULL)
        rc = err_set(err, ERR_MEMORY, "%s: out of memory", folder);
    else if (text[0] != '\0')
        rc = file_write(path, text, strlen(text), err);
    free(path);
    return rc;
}

void
nni_crashes_read(const char *folder, struct nni_crashes *out)
{
    char *path = file_join(folder, CRASH_NAME);
    const char *line;
    struct buf text;

    *out = (struct nni_crashes){.n = 0};
    buf_init(&text, (size_t)1 << 20);
    if (path != NULL && file_read(path, CRASH_MAX, &text, NULL) == 0)
        for (line = buf_text(&text); *line != '\0' && out->n < NNI_CRASHES_MAX;
             out->n++) {
            size_t len = strcspn(line, "\n");

            snprintf(out->words[out->n], sizeof out->words[0], "%.*s", (int)len,
                     line);
            line += len + (line[len] == '\n');
        }
    buf_fini(&text);
    free(path);
}

void
nni_crashes_forget(const char *folder)
{
    char *path = file_join(folder, CRASH_NAME);

    if (path != NULL)
        unlink(path);
    free(path);
}

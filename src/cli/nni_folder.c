/* SPDX-License-Identifier: MIT */
#include "cli/nni_folder.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "log/lock.h"
#include "log/segments.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDERS_MAX 10000
#define CRASH_NAME "command.crash"
#define CRASH_MAX 256 /* bytes of that file */

/* A folder of its own, made; its path, to be freed. */
static char *
make_folder(const char *folder, char name[NNI_FOLDER_NAME_MAX], struct err *err)
{
    for (int i = 1; i <= FOLDERS_MAX; i++) {
        char *path;

        snprintf(name, NNI_FOLDER_NAME_MAX, "earlier-%d", i);
        path = file_join(folder, name);
        if (path == NULL) {
            err_set(err, ERR_MEMORY, "%s: out of memory", folder);
            return NULL;
        }
        if (mkdir(path, 0700) == 0)
            return path;
        if (errno != EEXIST) {
            err_errno(err, ERR_LOG, "%s: cannot be made", path);
            free(path);
            return NULL;
        }
        free(path);
    }
    err_set(err, ERR_LOG, "%s: has %d folders earlier-N, expected fewer",
            folder, FOLDERS_MAX);
    return NULL;
}

int
nni_folder_set_aside(const char *folder, char name[NNI_FOLDER_NAME_MAX],
                     struct err *err)
{
    char *path = file_join(folder, LOCKFILE_NAME), *to = NULL;
    struct loglock lock;
    int rc = -1;

    loglock_init(&lock);
    if (path == NULL)
        err_set(err, ERR_MEMORY, "%s: out of memory", folder);
    else if (loglock_take(&lock, path, err) == 0)
        to = make_folder(folder, name, err);
    if (to != NULL)
        rc = segments_move(folder, to, err);
    loglock_release(&lock);
    free(path);
    free(to);
    return rc;
}

/* ---- crashes ---- */

int
nni_folder_note_crash(const char *folder, const struct lockfile *lock,
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
nni_folder_crashes(const char *folder, struct nni_crashes *out)
{
    char *path = file_join(folder, CRASH_NAME);
    const char *line;
    struct buf text;

    *out = (struct nni_crashes){.n = 0};
    buf_init(&text, (size_t)1 << 20);
    if (path != NULL && file_read(path, CRASH_MAX, &text, NULL) == 0)
        for (line = buf_text(&text);
             *line != '\0' && out->n < NNI_FOLDER_CRASHES; out->n++) {
            size_t len = strcspn(line, "\n");

            snprintf(out->words[out->n], sizeof out->words[0], "%.*s", (int)len,
                     line);
            line += len + (line[len] == '\n');
        }
    buf_fini(&text);
    free(path);
}

void
nni_folder_forget_crashes(const char *folder)
{
    char *path = file_join(folder, CRASH_NAME);

    if (path != NULL)
        unlink(path);
    free(path);
}

/* SPDX-License-Identifier: MIT */
#include "manager/trash.h"

#include "core/err.h"
#include "core/file.h"
#include "core/folder.h"
#include "core/number.h"
#include "core/process.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAP ".gone."
#define PROGRAM "/bin/rm"

static char *
heap_path(const struct trash *t)
{
    char *path = NULL;

    return asprintf(&path, "%s/" HEAP "%llu", t->folder,
                    (unsigned long long)t->heap) < 0
               ? NULL
               : path;
}

/* Moves the heaps that an earlier manager left into this one: each of them may
 * be half deleted. */
static void
take_over_heaps(struct trash *t)
{
    DIR *all = opendir(t->folder);
    struct dirent *entry;
    uint64_t number;

    while (all != NULL && (entry = readdir(all)) != NULL) {
        const char *digits = entry->d_name + sizeof HEAP - 1;
        char *path;

        if (strncmp(entry->d_name, HEAP, sizeof HEAP - 1) != 0 ||
            !number_parse_u64(digits, strlen(digits), &number) ||
            number == t->heap)
            continue;
        path = file_join(t->folder, entry->d_name);
        if (path != NULL)
            trash_put(t, path);
        free(path);
    }
    if (all != NULL)
        closedir(all);
}

/* The heap is the first that is not there yet: what another manager has begun
 * to delete, and may still delete, is in another one. */
int
trash_open(struct trash *t, const char *folder, struct err *err)
{
    char *path;
    bool there = true;

    *t = TRASH_CLOSED;
    t->folder = strdup(folder);
    while (t->folder != NULL && there) {
        t->heap++;
        path = heap_path(t);
        there = path != NULL && access(path, F_OK) == 0;
        free(path);
    }
    if (t->folder == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    take_over_heaps(t);
    return 0;
}

void
trash_put(struct trash *t, const char *path)
{
    char *heap = NULL, *to = NULL;

    if (rmdir(path) == 0 || (errno == ENOTDIR && unlink(path) == 0))
        return; /* an empty folder or a file is deleted quickly */
    if (t->folder != NULL)
        heap = heap_path(t);
    if (heap != NULL && (mkdir(heap, 0700) == 0 || errno == EEXIST) &&
        asprintf(&to, "%s/%llu", heap, (unsigned long long)t->names++) < 0)
        to = NULL;
    if (to != NULL && rename(path, to) == 0)
        t->n++;
    else
        folder_remove(path);
    free(to);
    free(heap);
}

bool
trash_wants(const struct trash *t)
{
    return t->n > 0 && t->pidfd < 0;
}

static int
start_rm(struct trash *t, const char *heap)
{
    const char *const argv[] = {PROGRAM, "-rf", "--", heap, NULL};
    const struct process_spawn how = {
        .argv = argv, .files = {PROCESS_NULL, PROCESS_NULL, PROCESS_NULL}};

    return process_spawn(&how, &t->pidfd, NULL) > 0 ? 0 : -1;
}

/* Where no process can be started it is deleted here, which takes time. */
void
trash_begin(struct trash *t)
{
    char *heap = heap_path(t);

    if (heap == NULL)
        return;
    if (start_rm(t, heap) != 0)
        folder_remove(heap);
    t->heap++;
    t->n = 0;
    free(heap);
}

void
trash_reap(struct trash *t)
{
    process_reap(&t->pidfd);
}

void
trash_close(struct trash *t)
{
    if (t->pidfd >= 0)
        trash_reap(t);
    if (t->folder != NULL && trash_wants(t))
        trash_begin(t);
    if (t->pidfd >= 0)
        trash_reap(t);
    free(t->folder);
    *t = TRASH_CLOSED;
}

/* SPDX-License-Identifier: MIT */
/* trash.h - folders that nobody needs any more, which may be large: they are
 * renamed away at once and deleted by a process of its own, rm(1), while the
 * loop goes on.  What a manager that died has left the next one deletes.  One
 * thread. */
#ifndef MANAGER_TRASH_H
#define MANAGER_TRASH_H

#include <stdbool.h>
#include <stdint.h>

struct err;

struct trash {
    char *folder;  /* in which heaps lie, .gone.N; NULL: all is deleted where it
                      stands */
    uint64_t heap; /* the number of the heap that is added to */
    uint64_t n;    /* folders in it */
    uint64_t names; /* given to folders so far */
    int pidfd; /* of the process that deletes the heaps before; -1: none does;
                  else readable at its end */
};

#define TRASH_CLOSED \
    (struct trash)   \
    {                \
        .pidfd = -1  \
    }

/* Heaps will lie in this folder, which is on the file system of the folders
 * that are to be deleted. */
int trash_open(struct trash *t, const char *folder, struct err *err);
/* Waits until all is deleted. */
void trash_close(struct trash *t);

/* Puts a folder, or a file, into the heap: then it is no longer where it was.
 * Where it cannot be renamed it is deleted at once. */
void trash_put(struct trash *t, const char *path);

/* Whether a heap waits to be deleted, and nobody deletes. */
bool trash_wants(const struct trash *t);
/* Begins to delete the heap: pidfd is to be watched, if it is open then. */
void trash_begin(struct trash *t);
/* Takes in the end of the process that deletes, whose pidfd is readable. */
void trash_reap(struct trash *t);

#endif

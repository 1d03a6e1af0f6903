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
    uint64_t heap; /* the one that is added to */
    uint64_t n;    /* in it */
    uint64_t names;
    int pidfd; /* of the process that deletes the heaps before; -1: none does;
                  else readable at its end */
};

#define TRASH_CLOSED \
    (struct trash)   \
    {                \
        .pidfd = -1  \
    }

/* Heaps lie in this folder, on whose file system the folders are. */
int trash_open(struct trash *t, const char *folder, struct err *err);
/* Waits until all is deleted. */
void trash_close(struct trash *t);

/* It is not there any more.  Where it cannot be renamed it is deleted here. */
void trash_put(struct trash *t, const char *path);

/* Whether a heap waits to be deleted, and nobody deletes. */
bool trash_wants(const struct trash *t);
/* Begins with it: pidfd is to be watched, should it be open then. */
void trash_begin(struct trash *t);
/* pidfd is readable, and is watched no more: it is closed. */
void trash_ended(struct trash *t);

#endif

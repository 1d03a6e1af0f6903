/* SPDX-License-Identifier: MIT */
/* packs.h - the files of trials, wherever they are: a path that leads into
 * EXPERIMENT/trials/ATTEMPT/ leads to that attempt's folder, and what is not
 * there to the pack of its trial (member.h).  Any other path is opened as
 * file_open_plain() does.
 *
 * A handle remembers packs and what was unpacked of them last, within bounds,
 * so that reading attempt after attempt in the order of their numbers unpacks
 * nothing twice.  One thread; each function takes NULL for a handle of its own,
 * for one file. */
#ifndef PACK_PACKS_H
#define PACK_PACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct packs;

struct packs *packs_new(void); /* NULL: out of memory */
void packs_free(struct packs *k);

/* Opens a file for reading, as file_open_plain(); one in a pack as a copy of
 * it.  -1: errno and err tell why, EBADMSG: its pack is damaged there. */
int packs_open(struct packs *k, const char *path, struct err *err);
/* Appends the whole file to b; more than `max` bytes is an error. */
int packs_read(struct packs *k, const char *path, size_t max, struct buf *b,
               struct err *err);
/* Whether there is a file, or a folder of an attempt, of this path. */
bool packs_has(struct packs *k, const char *path);
/* Whether it is in a pack, be it in the folder, too. */
bool packs_is_packed(struct packs *k, const char *path);

/* The path of the pack that the folder of an attempt is in, or would be; to be
 * freed; NULL: it is no such folder, or out of memory. */
char *packs_path(const char *folder);

/* Is told of each attempt that is in a pack, some more than once.  Other than
 * 0 ends the walk. */
typedef int packs_attempt(void *ctx, uint64_t number, uint64_t attempt);
/* -1: a pack cannot be read; the others were. */
int packs_each(const char *trials, packs_attempt *take, void *ctx,
               struct err *err);

/* What is damaged in the packs of this folder of trials, in a line; false:
 * nothing that could be seen from the heads of their members. */
bool packs_damage(const char *trials, char *out, size_t size);

/* How the name of a file begins that is being unpacked; it may be left by one
 * that was killed. */
#define PACKS_TEMPORARY ".unpacking-"

/* Puts what is in the pack of the attempt's folder into the folder `to`, which
 * is made where it is missing; each file appears complete and synced.  Files
 * that are there stay as they are, with `fill`, or else are an error before
 * anything is written.  -1 also where the attempt is in no pack. */
int packs_unpack(struct packs *k, const char *folder, const char *to, bool fill,
                 struct err *err);

#endif

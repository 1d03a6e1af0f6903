/* SPDX-License-Identifier: MIT */
/* packer.h - puts the folders of ended trials into packs (member.h), and
 * removes from the folders what is there.
 *
 * Whatever is removed is on stable storage before: a process that is killed, or
 * a machine that loses power, at any moment leaves each file in the folder, in
 * the pack, or in both.  No symbolic link is followed; FIFOs, sockets and
 * devices are not opened.  One writer of a folder at a time; any thread. */
#ifndef PACK_PACKER_H
#define PACK_PACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct packer;

/* What becomes of a kind of files. */
enum pack_fate { PACK_KEPT, PACK_STORED, PACK_REMOVED };

struct pack_trial {
    uint64_t number;
    uint64_t attempts; /* the number of its last one, from 0 */
    enum pack_fate ours, output;
};

/* Whether what has this name in the folder of an attempt, "stdout",
 * "prepare/exit", is ours; else it is output.  A folder that is ours is gone
 * into. */
typedef bool packer_is_ours(const char *name, bool folder);

/* `trials` is the folder in which the attempts' folders are. */
struct packer *packer_open(const char *trials, packer_is_ours *is_ours,
                           struct err *err);
void packer_close(struct packer *p);

/* Does with the folders of these trials, which are in the order of their
 * numbers, as they say.  A file that cannot be stored, because it cannot be
 * read, or its name is longer than ustar's 256 bytes or it than 8 GiB, stays
 * where it is, as do others than files, folders and links; `left` then tells of
 * the first one (its code is ERR_NONE otherwise).  -1: a pack could not be
 * written, as err says; what is not in a pack is where it was, and may be given
 * again. */
int packer_put(struct packer *p, const struct pack_trial *trials, size_t n,
               struct err *left, struct err *err);

/* Whether a file in a pack's place that is none was renamed since the last
 * call, as *told then tells. */
bool packer_set_aside(struct packer *p, struct err *told);

#endif

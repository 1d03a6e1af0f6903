/* SPDX-License-Identifier: MIT */
/* ferry.h - files on their way between a manager and an agent that share no
 * folder, and what is said behind them, in order.
 *
 * Both have a folder of the experiment, in which files go by the same paths.
 * What goes for a trial, which its token names, lies in the trial's folder or
 * in that of its checkpoints: nothing else is taken.  One thread. */
#ifndef AGENT_FERRY_H
#define AGENT_FERRY_H

#include "core/list.h"

#include <stdbool.h>
#include <sys/types.h>

struct buf;
struct err;
struct said;
struct wire;

/* What waits to be sent.  A zeroed one is empty. */
struct ferry {
    struct list items;
    int fd; /* of the first one, where `begun` */
    bool begun;
    off_t at, size;
    bool torn; /* a checkpoint's file could not be read */
};

/* What is taken in.  A zeroed one has taken nothing. */
struct ferry_taken {
    char torn[300]; /* a checkpoint of which something could not be written */
};

/* The trial's folder, and that of its checkpoints, within the experiment's, to
 * be freed; NULL: out of memory, or it is no token. */
char *ferry_trial(const char *token);
char *ferry_checkpoints(const char *token);

/* Sends a file as it is when its turn comes, from one byte up to another one,
 * -1: its end; what is no file then is left out.  `as`: by another path; NULL:
 * its own.  `root`, where paths begin, is borrowed until the ferry is cleared.
 */
void ferry_file(struct ferry *f, const char *root, const char *token,
                const char *path, const char *as, off_t from, off_t upto);
/* Sends a folder, empty. */
void ferry_folder(struct ferry *f, const char *token, const char *path);
/* Sends what is there now: folders, links, FIFOs and the files in them.  `skip`
 * (may be NULL) has, with NULL at the end, the paths within it of what is left
 * out.  false: something else is, too. */
bool ferry_tree(struct ferry *f, const char *root, const char *token,
                const char *path, const char *as, const char *const skip[]);
/* A file or folder that was sent becomes another one, which it replaces where
 * that is a file; where it is a folder it goes.  Not done behind a checkpoint's
 * file that could not be read. */
void ferry_rename(struct ferry *f, const char *token, const char *from,
                  const char *to);
/* A frame behind all that; its texts are taken. */
void ferry_say(struct ferry *f, const char code[2], struct buf *texts);

/* Says as much as the wire should hold at a time.  false: a trial would be
 * begun without a part of its checkpoint. */
bool ferry_go_on(struct ferry *f, struct wire *w);
bool ferry_is_empty(const struct ferry *f);
void ferry_clear(struct ferry *f);

/* Takes in a frame that came of these, whose token is read already.  -1: it
 * could not be written, or is none; a checkpoint of which it is a part gets no
 * name then. */
int ferry_take(struct ferry_taken *t, const char *code, struct said *said,
               const char *root, const char *token, struct err *err);

#endif

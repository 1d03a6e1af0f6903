/* SPDX-License-Identifier: MIT */
/* imports.h - finished trials from elsewhere, that the tuner is told of before
 * it is asked (FD of PROTOCOL.md).  One thread.
 *
 * A file of them is lines of JSON, as `tunepipe import` writes them:
 *
 *   {"parameter": {"x": 0.5}, "value": 1.25, "minimize": true, "from": "..."}
 *
 * `parameter` and `value` must be there; `minimize`, which way the search went
 * they are from, must agree with the experiment; all else is for people. */
#ifndef MANAGER_IMPORTS_H
#define MANAGER_IMPORTS_H

#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct exchange;
struct experiment;
struct problems;

/* The file's lines that fit the search space, as they stand; without `import`
 * in the configuration, none.  What is wrong with the file is a problem; what
 * does not fit, and parameters that the space does not have, are notes.  Both
 * may be NULL. */
void imports_load(const struct experiment *x, struct buf *out,
                  struct problems *problems, struct problems *notes);

/* Keeps them in the experiment's folder. */
int imports_keep(const struct experiment *x, const char *folder,
                 struct err *err);

/* Sends them, in as many FD as it takes, but the first `skip`. */
void imports_send(struct exchange *to, const char *lines, uint64_t skip);

/* The same with those that the folder keeps, whenever they came. */
int imports_send_kept(struct exchange *to, const char *folder, uint64_t skip,
                      struct err *err);

/* Takes those that lie in the folder as FOLDER_IMPORT_NEW, if any: they are
 * kept, and sent.  *n: how many trials they are. */
int imports_accept(struct exchange *to, const char *folder, uint64_t *n,
                   struct err *err);

#endif

/* SPDX-License-Identifier: MIT */
/* imports.h - finished trials from elsewhere, which the tuner is told of before
 * it is asked for any (FD of PROTOCOL.md).  One thread.
 *
 * A file of them is lines of JSON, as `tunepipe import` writes them:
 *
 *   {"parameter": {"x": 0.5}, "value": 1.25, "minimize": true, "from": "..."}
 *
 * `parameter` and `value` must be there; `minimize`, the direction of the
 * search that they are from, must agree with the experiment; all else is for
 * people.  With objectives `value` is an object of them; or there are instead
 * `values`, an array in the order of the experiment's objectives, and perhaps
 * `directions`, such as ["minimize", null], which must agree with these. */
#ifndef MANAGER_IMPORTS_H
#define MANAGER_IMPORTS_H

#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct exchange;
struct experiment;
struct problems;

/* Appends the lines of the configuration's import file that fit the search
 * space, as they stand, but that `values` become a `value`; none where it names
 * no file.  What is wrong with the file is added to `problems`; lines that do
 * not fit, and parameters that the space does not have, to `notes`.  Both may
 * be NULL. */
void imports_load(const struct experiment *x, struct buf *out,
                  struct problems *problems, struct problems *notes);

/* Writes these lines into the experiment's folder. */
int imports_keep(const struct experiment *x, const char *folder,
                 struct err *err);

/* Sends the lines, in as many FD as it takes; the first `skip` FD are left out,
 * since the dispatcher has them. */
void imports_send(struct exchange *to, const char *lines, uint64_t skip);

/* Sends all lines that the folder keeps, whenever they came. */
int imports_send_kept(struct exchange *to, const char *folder, uint64_t skip,
                      struct err *err);

/* Keeps and sends the lines of the folder's FOLDER_IMPORT_NEW, where there is
 * one. *n: how many trials these are. */
int imports_accept(struct exchange *to, const char *folder, uint64_t *n,
                   struct err *err);

#endif

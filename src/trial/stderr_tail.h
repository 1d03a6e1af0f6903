/* SPDX-License-Identifier: MIT */
/* stderr_tail.h - the end of a trial's standard error; each function but the
 * first two takes the folder of one phase (trial/files.h).  What is not there
 * is looked for in `k`, the packs; NULL: it is not.  One thread. */
#ifndef TRIAL_STDERR_TAIL_H
#define TRIAL_STDERR_TAIL_H

#include <stdbool.h>
#include <stddef.h>

struct packs;

#define STDERR_TAIL_MAX 8192

/* Whether the run of an attempt has begun, beyond prepareCommand. */
bool stderr_tail_has_run(const char *attempt, struct packs *k);

/* The folder of the last phase that began, in an attempt's folder, to be freed:
 * prepareCommand's, or the attempt's own.  NULL: out of memory. */
char *stderr_tail_folder(const char *attempt, struct packs *k);

/* Reads the last bytes of `stderr` in a trial's folder, without a NUL; returns
 * how many. */
size_t stderr_tail_read(const char *folder, struct packs *k,
                        char text[STDERR_TAIL_MAX]);

/* Calls `take` for each of its last lines, at most so many, in their order;
 * false: there are none. */
bool stderr_tail_lines(const char *folder, struct packs *k, size_t most,
                       void (*take)(void *ctx, const char *line, size_t len),
                       void *ctx);

/* Reads the last line of it that is not empty, cut to fit; "" where there is
 * none. */
void stderr_tail_line(const char *folder, struct packs *k, char *line,
                      size_t size);

/* Reads the last line of it if it is its wrapper's; else "". */
void stderr_tail_wrapper(const char *folder, struct packs *k, char *line,
                         size_t size);

#endif

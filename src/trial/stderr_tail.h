/* SPDX-License-Identifier: MIT */
/* stderr_tail.h - the end of a trial's standard error; each function but the
 * first two takes the folder of one phase (trial/files.h).  One thread. */
#ifndef TRIAL_STDERR_TAIL_H
#define TRIAL_STDERR_TAIL_H

#include <stdbool.h>
#include <stddef.h>

#define STDERR_TAIL_MAX 8192

/* Whether the run of an attempt has begun, beyond prepareCommand. */
bool stderr_tail_has_run(const char *attempt);

/* The folder of the last phase that began, in an attempt's folder, to be freed:
 * prepareCommand's, or the attempt's own.  NULL: out of memory. */
char *stderr_tail_folder(const char *attempt);

/* Reads the last bytes of `stderr` in a trial's folder, without a NUL; returns
 * how many. */
size_t stderr_tail_read(const char *folder, char text[STDERR_TAIL_MAX]);

/* Calls `take` for each of its last lines, at most so many, in their order;
 * false: there are none. */
bool stderr_tail_lines(const char *folder, size_t most,
                       void (*take)(void *ctx, const char *line, size_t len),
                       void *ctx);

/* Reads the last line of it that is not empty, cut to fit; "" where there is
 * none. */
void stderr_tail_line(const char *folder, char *line, size_t size);

/* Reads the last line of it if it is its wrapper's; else "". */
void stderr_tail_wrapper(const char *folder, char *line, size_t size);

#endif

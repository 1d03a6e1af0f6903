/* SPDX-License-Identifier: MIT */
/* stderr_tail.h - the end of a trial's standard error.  One thread. */
#ifndef TRIAL_STDERR_TAIL_H
#define TRIAL_STDERR_TAIL_H

#include <stddef.h>

#define STDERR_TAIL_MAX 8192

/* Reads the last bytes of `stderr` in a trial's folder, without a NUL; returns
 * how many. */
size_t stderr_tail_read(const char *folder, char text[STDERR_TAIL_MAX]);

/* Reads the last line of it that is not empty, cut to fit; "" where there is
 * none. */
void stderr_tail_line(const char *folder, char *line, size_t size);

/* Reads the last line of it if it is its wrapper's; else "". */
void stderr_tail_wrapper(const char *folder, char *line, size_t size);

#endif

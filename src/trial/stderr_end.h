/* SPDX-License-Identifier: MIT */
/* stderr_end.h - the end of a trial's standard error.  One thread. */
#ifndef TRIAL_STDERR_END_H
#define TRIAL_STDERR_END_H

#include <stddef.h>

#define STDERR_END_MAX 8192

/* Reads the last bytes of `stderr` in a trial's folder, without a NUL; returns
 * how many. */
size_t stderr_end_read(const char *folder, char text[STDERR_END_MAX]);

/* The last line of that file that is not empty, cut to fit; "" where there is
 * none. */
void stderr_end_line(const char *folder, char *line, size_t size);

/* That line where the trial's wrapper wrote it; "" where a program of the trial
 * did. */
void stderr_end_wrapper(const char *folder, char *line, size_t size);

#endif

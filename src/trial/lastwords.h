/* SPDX-License-Identifier: MIT */
/* lastwords.h - the end of a trial's standard error.  One thread. */
#ifndef TRIAL_LASTWORDS_H
#define TRIAL_LASTWORDS_H

#include <stddef.h>

#define LASTWORDS_MAX 8192

/* The last bytes of `stderr` in a trial's folder, without a NUL; how many. */
size_t lastwords_read(const char *folder, char text[LASTWORDS_MAX]);

/* Its last line that is not empty, cut to fit; "" where there is none. */
void lastwords_line(const char *folder, char *line, size_t size);

/* What its wrapper said there last; "" where the last line is another's. */
void lastwords_wrapper(const char *folder, char *line, size_t size);

#endif

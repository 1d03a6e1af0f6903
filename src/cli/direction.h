/* SPDX-License-Identifier: MIT */
/* direction.h - an experiment has to say which results are better: to guess
 * it would be to search the wrong way for a night. */
#ifndef CLI_DIRECTION_H
#define CLI_DIRECTION_H

struct err;
struct experiment;

/* Fails where nothing says which results are better: -1, and err (ERR_CONFIG)
 * has the file as it was named, both words, and what NNI's algorithms of these
 * names would take. */
int direction_check(const struct experiment *x, const char *file,
                    struct err *err);

#endif

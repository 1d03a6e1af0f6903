/* SPDX-License-Identifier: MIT */
/* logpath.h - the log that a word of the command line means.  NULL: err says
 * what was expected; else it is to be freed. */
#ifndef CLI_LOGPATH_H
#define CLI_LOGPATH_H

struct err;

/* The file itself, or the log in a folder. */
char *logpath(const char *word, struct err *err);

/* The log in this folder. */
char *logpath_in(const char *folder, struct err *err);

#endif

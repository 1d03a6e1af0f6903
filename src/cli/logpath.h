/* SPDX-License-Identifier: MIT */
/* logpath.h - the log that a word of the command line means. */
#ifndef CLI_LOGPATH_H
#define CLI_LOGPATH_H

struct err;

/* The file itself, or the log in a folder; to be freed.  NULL: err tells. */
char *logpath(const char *word, struct err *err);

#endif

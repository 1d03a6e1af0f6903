/* SPDX-License-Identifier: MIT */
/* database.h - where SQLite is found: a shared object, so that only the verbs
 * that read or write a database need its library. */
#ifndef CLI_DATABASE_H
#define CLI_DATABASE_H

struct err;
struct sql;

/* Borrowed, for ever.  NULL: this build lacks it (ERR_CONFIG).  `what` needs
 * it, in the error: "tunepipe index". */
const struct sql *database_load(const char *what, struct err *err);

#endif

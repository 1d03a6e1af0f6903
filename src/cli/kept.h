/* SPDX-License-Identifier: MIT */
/* kept.h - the configuration of an existing experiment, as its folder keeps
 * it. */
#ifndef CLI_KEPT_H
#define CLI_KEPT_H

struct err;
struct experiment;
struct problems;
struct results;

/* Reads the configuration, with the seed that may have been drawn.  NULL: it
 * cannot be read; `problems` has the mistakes. */
struct experiment *kept_read(const struct results *r, struct problems *problems,
                             struct err *err);

/* What is done with the configuration; returns the exit status. */
typedef int kept_use(struct experiment *x, void *ctx);

/* Reads the configuration and calls `use`.  Where it cannot be read that is
 * told as `verb`, a line for each mistake, and the exit status says so. */
int kept_with(const char *verb, const struct results *r, kept_use *use,
              void *ctx);

/* Before anything of the folder is run: the folder, its configuration and what
 * was given in place of keys of that must be the caller's and nobody else's to
 * write to.  -1: err says which is not. */
int kept_check_own(const struct results *r, struct err *err);

/* Whether the plugins that the configuration names are the caller's or root's,
 * and nobody else's to write to.  -1: err says which is not. */
int kept_check_plugins(const struct experiment *x, struct err *err);

#endif

/* SPDX-License-Identifier: MIT */
/* kept.h - the configuration of an experiment that there is already, as its
 * folder keeps it. */
#ifndef CLI_KEPT_H
#define CLI_KEPT_H

struct err;
struct experiment;
struct problems;
struct results;

/* With the seed that may have been drawn.  NULL: `problems` has a line for
 * each mistake and err the first of them.  Freed by experiment_free(). */
struct experiment *kept_experiment(const struct results *r,
                                   struct problems *problems, struct err *err);

#endif

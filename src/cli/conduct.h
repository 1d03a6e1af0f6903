/* SPDX-License-Identifier: MIT */
/* conduct.h - what `run` and `resume` share: an experiment to its end, and
 * what came of it told. */
#ifndef CLI_CONDUCT_H
#define CLI_CONDUCT_H

struct experiment;
struct manager_options;

/* Runs the experiment to its end; out_fd and err_fd are set here.  Returns the
 * exit status. */
int conduct(const char *verb, const struct experiment *x,
            struct manager_options *options);

/* Prints the table of results, for people. */
void conduct_print(const char *verb, const char *folder);

#endif

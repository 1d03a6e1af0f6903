/* SPDX-License-Identifier: MIT */
/* bundle.h - what machines that do not see this one's folders are given: the
 * code of trials and what is ours, one archive, which each keeps by its
 * content, under its user's cache.  Any thread. */
#ifndef RUNNER_SLURM_BUNDLE_H
#define RUNNER_SLURM_BUNDLE_H

struct err;
struct jobs_command;
struct runner_setup;

struct bundle {
    char *archive; /* its name in that folder */
    char name[33]; /* which its content has given it */
};

/* Makes it in the folder, for the experiment in that folder.  -1: the code
 * cannot be read, or tar(1) or sha256sum(1) are not there. */
int bundle_make(struct bundle *b, const char *folder, const char *experiment,
                const struct runner_setup *setup, struct err *err);
/* A zeroed one, too.  `folder`: what stands there of any goes; NULL: it stays.
 */
void bundle_fini(struct bundle *b, const char *folder);

/* Appends, behind what leads to another machine and hands on standard input,
 * the archive, to the command: how that takes it in, and becomes `tunepipe`
 * there with the arguments that are appended next. */
void bundle_enter(const struct bundle *b, struct jobs_command *c);

#endif

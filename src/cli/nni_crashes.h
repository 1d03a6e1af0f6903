/* SPDX-License-Identifier: MIT */
/* nni_crashes.h - commands whose handling ended the process by a fault of the
 * plugin, in a file beside the log in NNI's checkpoint folder.  The process
 * that saw the crash notes them; when the session goes on they are handled as
 * failed, or the same command would end it again.  One thread. */
#ifndef CLI_NNI_CRASHES_H
#define CLI_NNI_CRASHES_H

#include <stddef.h>

struct err;
struct lockfile;

#define NNI_CRASHES_MAX 2 /* one of the tuner's, one of the assessor's */
struct nni_crashes {
    char words[NNI_CRASHES_MAX][24]; /* "t:17", as for --skip */
    size_t n;
};

/* Notes the commands that the workers were at; without one there is no file. */
int nni_crashes_note(const char *folder, const struct lockfile *lock,
                     struct err *err);
/* None when there is no such file. */
void nni_crashes_read(const char *folder, struct nni_crashes *out);
void nni_crashes_forget(const char *folder);

#endif

/* SPDX-License-Identifier: MIT */
/* nni_folder.h - NNI's checkpoint folder, where the command log lies. */
#ifndef CLI_NNI_FOLDER_H
#define CLI_NNI_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct lockfile;

#define NNI_FOLDER_NAME_MAX 32

/* Moves the log with all that belongs to it into the first of the folders
 * earlier-1, earlier-2, ... that there is not yet, whose name is written to
 * `name`.  -1: err tells (its writer lives, ...); it may have been half done,
 * and goes on from there when it is called again. */
int nni_folder_set_aside(const char *folder, char name[NNI_FOLDER_NAME_MAX],
                         struct err *err);

/* Commands whose handling ended the process by a fault of the plugin: noted by
 * who saw it, they are handled as failed when the session goes on, which it
 * could not otherwise.  They lie in a file beside the log. */
#define NNI_FOLDER_CRASHES 2
struct nni_crashes {
    char words[NNI_FOLDER_CRASHES][24]; /* "t:17", as for --skip */
    size_t n;
};

/* Notes what the workers were at; without a command there is nothing to. */
int nni_folder_note_crash(const char *folder, const struct lockfile *lock,
                          struct err *err);
/* None when there is no such file. */
void nni_folder_crashes(const char *folder, struct nni_crashes *out);
void nni_folder_forget_crashes(const char *folder);

#endif

/* SPDX-License-Identifier: MIT */
/* nni_folder.h - NNI's checkpoint folder, where the command log lies. */
#ifndef CLI_NNI_FOLDER_H
#define CLI_NNI_FOLDER_H

#include <stdbool.h>

struct err;

#define NNI_FOLDER_NAME_MAX 32

/* Whether a command log, or a part of one, lies there. */
bool nni_folder_has_log(const char *folder);

/* Moves the log with all that belongs to it into the first of the folders
 * earlier-1, earlier-2, ... that there is not yet, whose name is written to
 * `name`.  -1: err tells (its writer lives, ...); it may have been half done,
 * and goes on from there when it is called again. */
int nni_folder_set_aside(const char *folder, char name[NNI_FOLDER_NAME_MAX],
                         struct err *err);

#endif

/* SPDX-License-Identifier: MIT */
/* folder_arg.h - the argument `all_checkpoint_dir` of a tuner that has one: a
 * plugin may not look into its environment, so that the session completes what
 * the user gave, and the log's head has it. */
#ifndef PLUGIN_FOLDER_ARG_H
#define PLUGIN_FOLDER_ARG_H

#include "json.h"

struct err;
struct plugin_paths;

/* *out becomes the tuner's arguments with `folder` where `args`, an object or
 * null, says nothing or null; it is NULL when there is nothing to complete: the
 * tuner has no such argument, or cannot be loaded, or folder is NULL.  -1: out
 * of memory. */
int folder_arg_complete(const struct plugin_paths *paths, const char *tuner,
                        struct jval args, const char *folder, struct json **out,
                        struct err *err);

#endif

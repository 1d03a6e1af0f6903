/* SPDX-License-Identifier: MIT */
/* given_arg.h - an argument that the session knows, for a plugin that has it
 * and a user who did not give it: `all_checkpoint_dir`, as a plugin may not
 * look into its environment, and `optimize_mode`, as the direction is the
 * experiment's.  The session completes what the user gave, and the log's head
 * has it. */
#ifndef PLUGIN_GIVEN_ARG_H
#define PLUGIN_GIVEN_ARG_H

#include "json.h"
#include "plugin/loader.h"

struct err;
struct plugin_paths;

/* *out becomes `args`, an object or null, with the text `text` for `name`
 * where they say nothing or null. */
int given_arg_put(struct jval args, const char *name, const char *text,
                  struct json **out, struct err *err);

/* As well where they say something. */
int given_arg_set(struct jval args, const char *name, const char *text,
                  struct json **out, struct err *err);

/* given_arg_put() for a plugin that has the argument.  *out is NULL when there
 * is nothing to complete: it has no such argument, or cannot be loaded, or text
 * is NULL.  -1: out of memory. */
int given_arg_complete(const struct plugin_paths *paths, enum plugin_kind kind,
                       const char *plugin, struct jval args, const char *name,
                       const char *text, struct json **out, struct err *err);

#endif

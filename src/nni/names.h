/* SPDX-License-Identifier: MIT */
/* names.h - NNI's built-in tuners, advisors and assessors: which plugin stands
 * for each, or what is nearest to it.
 *
 * Case does not count, in any generation (NNI's: from 2.8 on), and the older
 * names with "Tuner" at their end are known, as NNI's aliases.  Any thread,
 * but loading plugins is for one at a time. */
#ifndef NNI_NAMES_H
#define NNI_NAMES_H

#include "json.h"
#include "plugin/loader.h"

#include <stdbool.h>

struct err;
struct plugin_paths;

/* Whether NNI has a built-in algorithm of that name. */
bool names_known(enum plugin_kind kind, const char *name);

/* Which way NNI's algorithm of that name searches when it is not told:
 * "minimize" or "maximize"; NULL: there is none, or it has no default. */
const char *names_mode(enum plugin_kind kind, const char *name);

/* Whether it is one of NNI's advisors, which take no assessor. */
bool names_is_advisor(const char *name);

/* *plugin becomes what to load for the name, static or `name` itself, which is
 * then a plugin's name or file.  -1 (ERR_CONFIG): NNI has the algorithm and
 * tunepipe has not; err names the nearest. */
int names_resolve(const struct plugin_paths *paths, enum plugin_kind kind,
                  const char *name, const char **plugin, struct err *err);

/* One line that says that another algorithm stands for NNI's tuner of that
 * name; NULL: none does, or the name is that plugin's own. */
const char *names_note(const char *name);

/* Translates the arguments of NNI's tuner of that name into the words of the
 * plugin that stands for it: those of TPE before 2.6 (parallel_optimize,
 * constant_liar_type), and of tuners that another algorithm stands for, which
 * get `mode` (NULL: none) as optimize_mode where they have no other.  *out is
 * to be freed; NULL: `args` is right as it is. */
int names_translate(const char *name, struct jval args, const char *mode,
                    struct json **out, struct err *err);

#endif

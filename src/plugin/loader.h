/* SPDX-License-Identifier: MIT */
/* loader.h - from a name or a file to a checked table of callbacks.
 *
 * Whatever is wrong with a file is one line that names the file and the
 * member: nothing in it but its constructors and its registration function
 * runs before all of that is checked. */
#ifndef PLUGIN_LOADER_H
#define PLUGIN_LOADER_H

#include "tunepipe/assessor.h"
#include "tunepipe/filter.h"
#include "tunepipe/tuner.h"

#include <stdbool.h>
#include <stddef.h>

struct err;
struct plugin_paths;

enum plugin_kind { PLUGIN_TUNER = 1, PLUGIN_ASSESSOR = 2, PLUGIN_FILTER = 4 };
#define PLUGIN_ANY 7 /* all kinds */

/* A loaded file; one owner.  Objects made with its callbacks have to be gone
 * before it is. */
struct plugin {
    enum plugin_kind kind;
    char *file;             /* its path, as found or given */
    const char *name, *doc; /* the plugin's */
    uint32_t version;
    struct tp_arg *args; /* a copy of this host's size, checked */
    size_t n_args;
    /* The table of its kind.  All callbacks are set: those that the plugin left
     * out, or is too old to have, are defaults; only save and load may be
     * missing, both together. */
    struct tp_tuner tuner;
    struct tp_assessor assessor;
    struct tp_filter filter;
    void *library;
    bool changed_floats; /* loading it changed the floating-point environment:
                            it was linked with -ffast-math */
};

/* "tuner", "assessor" or "filter"; of PLUGIN_ANY all three. */
const char *plugin_kind_name(enum plugin_kind kind);

/* Finds the file (see plugin_paths_find), else one whose plugin calls itself
 * `name` in whatever case, and loads it.  NULL on failure (ERR_CONFIG); for an
 * unknown name err tells the nearest, all there are, and what to do.  One
 * thread at a time. */
struct plugin *plugin_load(const struct plugin_paths *paths,
                           enum plugin_kind kind, const char *name,
                           struct err *err);

/* plugin_load() of a file; `kinds` is a set of enum plugin_kind. */
struct plugin *plugin_load_file(const char *file, int kinds, struct err *err);

/* Unloads a plugin.  Under a sanitizer or valgrind the code stays in memory, or
 * their reports would lack its names. */
void plugin_unload(struct plugin *p);

#endif

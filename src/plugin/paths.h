/* SPDX-License-Identifier: MIT */
/* paths.h - where plugins are looked for: folders, in this order:
 *
 *   1. those of --plugin-path,
 *   2. those of $TUNEPIPE_PLUGIN_PATH (both: separated by colons),
 *   3. `plugins` beside the executable (a build folder),
 *   4. `../lib/tunepipe/plugins` from the executable (installed),
 *   5. TP_PLUGINDIR, when a packager defined it.
 *
 * Folders that do not exist are passed over.  Immutable once made: any thread
 * may read. */
#ifndef PLUGIN_PATHS_H
#define PLUGIN_PATHS_H

#include <stddef.h>

struct err;
struct plugin_paths;

/* What an error about a name that was not found ends with. */
#define PLUGIN_PATHS_HINT                                               \
    "; one of yours: {plugin: FILE} in an experiment, else the folder " \
    "of its file by --plugin-path or TUNEPIPE_PLUGIN_PATH"

/* Reads the environment; `option` is the text of --plugin-path, or NULL. To be
 * called before any thread is started. */
struct plugin_paths *plugin_paths_new(const char *option, struct err *err);
void plugin_paths_free(struct plugin_paths *paths);

size_t plugin_paths_count(const struct plugin_paths *paths);
const char *plugin_paths_at(const struct plugin_paths *paths, size_t i);

/* The file that `name` stands for, to be freed.  A name with a '/' or ending
 * in ".so" is the file; else it is NAME.so, in lower case, in the first
 * folder that has it; a name that ends in "tuner" (NNI's older BatchTuner,
 * GPTuner, ...) is also tried without that, `gridsearch` is `grid` and
 * `regularizedevolution` is `regularized_evolution`.  NULL:
 * err says that there is none, which folders were looked through and what to
 * do (ERR_CONFIG). */
char *plugin_paths_find(const struct plugin_paths *paths, const char *name,
                        struct err *err);

/* The file of a name that stands in a log, which may be anybody's: no file is
 * loaded because a log says so.  One that is a file there is looked for by its
 * last part in the folders alone; where it is in none err names it, and the
 * option that allows it (ERR_CONFIG).  Other names come back as they are. */
char *plugin_paths_find_logged(const struct plugin_paths *paths,
                               const char *name, struct err *err);

/* Every NAME.so of all folders, sorted by name; of two with the same name the
 * earlier folder's.  A folder that cannot be read holds none. */
struct plugin_list {
    char **files; /* their paths */
    size_t n;
};
int plugin_paths_list(const struct plugin_paths *paths, struct plugin_list *out,
                      struct err *err);
void plugin_list_free(struct plugin_list *list);

/* Writes a plugin's name to out: "tpe" for
 * "/usr/lib/tunepipe/plugins/tpe.so". */
void plugin_short_name(const char *file, char *out, size_t out_size);

#endif

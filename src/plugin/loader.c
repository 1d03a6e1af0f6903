/* SPDX-License-Identifier: MIT */
#include "plugin/loader.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/nearest.h"
#include "plugin/floatenv.h"
#include "plugin/paths.h"
#include "plugin/table.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

static const struct {
    enum plugin_kind kind;
    const char *name, *a_name, *symbol;
} kinds_known[] = {
    {PLUGIN_TUNER, "tuner", "a tuner", "tunepipe_tuner"},
    {PLUGIN_ASSESSOR, "assessor", "an assessor", "tunepipe_assessor"},
    {PLUGIN_FILTER, "filter", "a filter", "tunepipe_filter"},
};
#define N_KINDS (sizeof kinds_known / sizeof *kinds_known)

/* The first of a set of kinds, as an index of kinds_known. */
static size_t
kind_index(int kinds)
{
    size_t i = 0;

    while (i + 1 < N_KINDS && !(kinds & (int)kinds_known[i].kind))
        i++;
    return i;
}

const char *
plugin_kind_name(enum plugin_kind kind)
{
    return kinds_known[kind_index((int)kind)].name;
}

/* Who can replace a file decides what it does: neither it nor its folder may
 * be anyone's to write to.  (In a sticky folder only owners rename.) */
static int
check_folder(const char *path, const char *file, struct err *err)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX];
    struct stat st;
    size_t len = slash == NULL ? 0 : (size_t)(slash - path);

    if (len >= sizeof folder)
        return err_set(err, ERR_CONFIG, "%.200s: path too long", file);
    memcpy(folder, path, len);
    folder[len] = '\0';
    if (len == 0)
        strncpy(folder, slash == NULL ? "." : "/", 2);
    if (stat(folder, &st) != 0)
        return err_errno(err, ERR_CONFIG, "%s", folder);
    if ((st.st_mode & S_IWOTH) && !(st.st_mode & S_ISVTX))
        return err_set(err, ERR_CONFIG,
                       "%s: not loaded, anyone may write to its folder: "
                       "chmod o-w %s",
                       file, folder);
    return 0;
}

/* The file behind links into out[PATH_MAX]. */
static int
check_file(const char *file, char *out, struct err *err)
{
    struct stat st;

    if (realpath(file, out) == NULL || stat(out, &st) != 0)
        return err_errno(err, ERR_CONFIG, "%s: cannot load", file);
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_CONFIG, "%s: cannot load: not a regular file",
                       file);
    if (st.st_mode & S_IWOTH)
        return err_set(err, ERR_CONFIG,
                       "%s: not loaded, anyone may write to it: chmod o-w %s",
                       file, out);
    if (check_folder(file, file, err) != 0)
        return -1;
    return check_folder(out, file, err);
}

static int
open_library(struct plugin *p, struct err *err)
{
    char path[PATH_MAX];
    const char *why;

    if (check_file(p->file, path, err) != 0)
        return -1;
    p->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    p->changed_floats = !floatenv_is_default();
    floatenv_restore();
    if (p->library != NULL)
        return 0;
    why = dlerror();
    if (why == NULL)
        why = "dlopen failed";
    if (strncmp(why, path, strlen(path)) == 0)
        why += strlen(path) + strspn(why + strlen(path), ": ");
    if (strstr(why, "ELF header") != NULL || strstr(why, "too short") != NULL)
        return err_set(err, ERR_CONFIG,
                       "%s: %s (expected a shared object; a program in any "
                       "language is named exec, see PROTOCOL.md, \"Programs\")",
                       p->file, why);
    return err_set(err, ERR_CONFIG, "%s: %s", p->file, why);
}

/* Calls the registration function of the first kind wanted that there is. */
static int
read_table(struct plugin *p, int kinds, struct err *err)
{
    const char *other = NULL;

    for (size_t i = 0; i < N_KINDS; i++) {
        const void *(*registered)(void);
        void *symbol = dlsym(p->library, kinds_known[i].symbol);
        const void *table;

        if (symbol == NULL)
            continue;
        if (!(kinds & (int)kinds_known[i].kind)) {
            other = kinds_known[i].a_name;
            continue;
        }
        memcpy(&registered, &symbol, sizeof registered);
        p->kind = kinds_known[i].kind;
        table = registered();
        floatenv_restore();
        return table_adopt(p, table, err);
    }
    if (other != NULL)
        return err_set(err, ERR_CONFIG, "%s: is %s, expected %s", p->file,
                       other, kinds_known[kind_index(kinds)].a_name);
    return err_set(err, ERR_CONFIG,
                   "%s: no plugin of tunepipe (it exports neither %s nor %s "
                   "nor %s)",
                   p->file, kinds_known[0].symbol, kinds_known[1].symbol,
                   kinds_known[2].symbol);
}

struct plugin *
plugin_load_file(const char *file, int kinds, struct err *err)
{
    struct plugin *p = calloc(1, sizeof *p);

    if (p == NULL || (p->file = strdup(file)) == NULL) {
        err_set(err, ERR_MEMORY, "%s: out of memory", file);
        goto fail;
    }
    if (open_library(p, err) != 0 || read_table(p, kinds, err) != 0)
        goto fail;
    return p;

fail:
    plugin_unload(p);
    return NULL;
}

static bool
stays_loaded(void)
{
    const char *preload = getenv("LD_PRELOAD");

    return SANITIZED || (preload != NULL && strstr(preload, "vgpreload"));
}

void
plugin_unload(struct plugin *p)
{
    if (p == NULL)
        return;
    free(p->args);
    if (p->library != NULL && !stays_loaded())
        dlclose(p->library);
    free(p->file);
    free(p);
}

/* Appends "; there are: a, b, c" and the nearest, as far as files can be
 * loaded and are of that kind. */
static void
tell_names(const struct plugin_paths *paths, enum plugin_kind kind,
           const char *word, struct err *err)
{
    struct plugin_list list;
    const char **names = NULL;
    struct plugin **loaded = NULL;
    size_t n = 0;
    struct buf all;
    char hint[128];

    if (plugin_paths_list(paths, &list, NULL) != 0)
        return;
    buf_init(&all, 512);
    names = calloc(list.n + 1, sizeof *names);
    loaded = calloc(list.n + 1, sizeof *loaded);
    for (size_t i = 0; names != NULL && loaded != NULL && i < list.n; i++) {
        loaded[n] = plugin_load_file(list.files[i], (int)kind, NULL);
        if (loaded[n] == NULL)
            continue;
        names[n] = loaded[n]->name;
        buf_printf(&all, "%s%s", n > 0 ? ", " : "", names[n]);
        n++;
    }
    if (n > 0)
        err_set(err, ERR_ABSENT, "no %s '%.100s'%s; there are: %s",
                plugin_kind_name(kind), word,
                nearest_hint(word, names, n, hint, sizeof hint),
                buf_text(&all));
    while (n-- > 0)
        plugin_unload(loaded[n]);
    free(loaded);
    free(names);
    buf_fini(&all);
    plugin_list_free(&list);
}

/* A file may have another name than its plugin, which is what lists, logs and
 * experiments go by. */
static struct plugin *
load_by_own_name(const struct plugin_paths *paths, enum plugin_kind kind,
                 const char *name)
{
    struct plugin *found = NULL;
    struct plugin_list list;

    if (plugin_paths_list(paths, &list, NULL) != 0)
        return NULL;
    for (size_t i = 0; found == NULL && i < list.n; i++) {
        found = plugin_load_file(list.files[i], (int)kind, NULL);
        if (found != NULL && strcasecmp(found->name, name) != 0) {
            plugin_unload(found);
            found = NULL;
        }
    }
    plugin_list_free(&list);
    return found;
}

struct plugin *
plugin_load(const struct plugin_paths *paths, enum plugin_kind kind,
            const char *name, struct err *err)
{
    char *file = plugin_paths_find(paths, name, err);
    struct plugin *p;

    if (file == NULL) {
        p = load_by_own_name(paths, kind, name);
        if (p == NULL)
            tell_names(paths, kind, name, err);
        return p;
    }
    p = plugin_load_file(file, (int)kind, err);
    free(file);
    return p;
}

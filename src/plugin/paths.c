/* SPDX-License-Identifier: MIT */
#include "plugin/paths.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define FOLDERS_MAX 64
#define FILES_MAX 1000
#define SUFFIX ".so"

struct plugin_paths {
    char *folders[FOLDERS_MAX];
    size_t n;
};

/* Adds a folder, which it takes. */
static int
add(struct plugin_paths *p, char *folder, struct err *err)
{
    if (folder == NULL)
        return err_set(err, ERR_MEMORY, "plugin path: out of memory");
    if (p->n == FOLDERS_MAX) {
        free(folder);
        return err_set(err, ERR_CONFIG, "plugin path: more than %d folders",
                       FOLDERS_MAX);
    }
    p->folders[p->n++] = folder;
    return 0;
}

static int
add_separated(struct plugin_paths *p, const char *text, struct err *err)
{
    while (text != NULL && *text != '\0') {
        size_t len = strcspn(text, ":");

        if (len > 0 && add(p, strndup(text, len), err) != 0)
            return -1;
        text += len + (text[len] == ':');
    }
    return 0;
}

static int
add_program_folders(struct plugin_paths *p, struct err *err)
{
    char *folder = file_program_folder();
    int rc = 0;

    if (folder == NULL)
        return 0;
    if (add(p, file_join(folder, "plugins"), err) != 0 ||
        add(p, file_join(folder, TP_LIB "/tunepipe/plugins"), err) != 0)
        rc = -1;
    free(folder);
    return rc;
}

struct plugin_paths *
plugin_paths_new(const char *option, struct err *err)
{
    struct plugin_paths *p = calloc(1, sizeof *p);

    if (p == NULL) {
        err_set(err, ERR_MEMORY, "plugin path: out of memory");
        return NULL;
    }
    if (add_separated(p, option, err) != 0 ||
        add_separated(p, getenv("TUNEPIPE_PLUGIN_PATH"), err) != 0 ||
        add_program_folders(p, err) != 0)
        goto fail;
#ifdef TP_PLUGINDIR
    if (add(p, strdup(TP_PLUGINDIR), err) != 0)
        goto fail;
#endif
    return p;

fail:
    plugin_paths_free(p);
    return NULL;
}

void
plugin_paths_free(struct plugin_paths *p)
{
    if (p == NULL)
        return;
    for (size_t i = 0; i < p->n; i++)
        free(p->folders[i]);
    free(p);
}

size_t
plugin_paths_count(const struct plugin_paths *p)
{
    return p->n;
}

const char *
plugin_paths_at(const struct plugin_paths *p, size_t i)
{
    return p->folders[i];
}

/* Names that NNI's users know, lower case. */
static const struct {
    const char *alias, *name;
} aliases[] = {
    {"dngo", "gp"},
    {"gridsearch", "grid"},
    {"metis", "gp"},
    {"regularizedevolution", "regularized_evolution"},
};
#define N_ALIASES (sizeof aliases / sizeof *aliases)

static bool
ends_in(const char *text, size_t len, const char *end)
{
    size_t n = strlen(end);

    return len > n && strncasecmp(text + len - n, end, n) == 0;
}

/* The first len letters of name, in lower case, with ".so", in the first folder
 * that has that file; NULL when none has, or out of memory. */
static char *
find_in_folders(const struct plugin_paths *p, const char *name, size_t len)
{
    char *file = NULL, *path = NULL;
    struct buf b;

    if (len == 0)
        return NULL;
    buf_init(&b, 256);
    for (size_t i = 0; i < len; i++)
        buf_add_char(&b, (char)tolower((unsigned char)name[i]));
    buf_add_text(&b, SUFFIX);
    file = buf_take(&b);
    for (size_t i = 0; file != NULL && path == NULL && i < p->n; i++) {
        path = file_join(p->folders[i], file);
        if (path != NULL && access(path, F_OK) != 0) {
            free(path);
            path = NULL;
        }
    }
    free(file);
    buf_fini(&b);
    return path;
}

static char *
not_found(const struct plugin_paths *p, const char *name, struct err *err)
{
    struct buf b;

    buf_init(&b, ERR_TEXT_MAX / 2); /* where this fails, "" will do */
    for (size_t i = 0; i < p->n; i++)
        buf_printf(&b, "%s%s", i > 0 ? ", " : "", p->folders[i]);
    err_set(err, ERR_CONFIG, "no plugin '%.100s' in %s" PLUGIN_PATHS_HINT, name,
            buf_text(&b));
    buf_fini(&b);
    return NULL;
}

/* Whether it names a file rather than a plugin. */
static bool
is_file(const char *name)
{
    return strchr(name, '/') != NULL || ends_in(name, strlen(name), SUFFIX);
}

char *
plugin_paths_find(const struct plugin_paths *p, const char *name,
                  struct err *err)
{
    size_t len = strlen(name);
    size_t bare = ends_in(name, len, "tuner") ? len - strlen("tuner") : len;
    char *path;

    if (is_file(name)) {
        path = strchr(name, '/') != NULL ? strdup(name) : file_join(".", name);
        if (path == NULL)
            err_set(err, ERR_MEMORY, "plugin '%.100s': out of memory", name);
        return path;
    }
    path = find_in_folders(p, name, len);
    if (path == NULL && bare < len)
        path = find_in_folders(p, name, bare);
    for (size_t i = 0; path == NULL && i < N_ALIASES; i++)
        if (strlen(aliases[i].alias) == bare &&
            strncasecmp(name, aliases[i].alias, bare) == 0)
            path = find_in_folders(p, aliases[i].name, strlen(aliases[i].name));
    return path != NULL ? path : not_found(p, name, err);
}

static const char *
last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

char *
plugin_paths_find_logged(const struct plugin_paths *p, const char *name,
                         struct err *err)
{
    const char *last = last_part(name);
    size_t folder = (size_t)(last - name);
    char *path = NULL;

    if (!is_file(name)) {
        path = strdup(name);
        if (path == NULL)
            err_set(err, ERR_MEMORY, "plugin '%.100s': out of memory", name);
        return path;
    }
    for (size_t i = 0; path == NULL && i < p->n; i++) {
        path = file_join(p->folders[i], last);
        if (path != NULL && access(path, F_OK) != 0) {
            free(path);
            path = NULL;
        }
    }
    if (path == NULL)
        err_set(err, ERR_CONFIG,
                "the log names the file '%.200s', and no file is loaded "
                "because a log says so: if you trust it, give --plugin-path "
                "%.*s",
                name,
                folder > 200  ? 200
                : folder == 0 ? 1
                              : (int)folder,
                folder == 0 ? "." : name);
    return path;
}

void
plugin_short_name(const char *file, char *out, size_t out_size)
{
    const char *slash = strrchr(file, '/');
    const char *name = slash != NULL ? slash + 1 : file;
    size_t len = strlen(name);

    if (ends_in(name, len, SUFFIX))
        len -= strlen(SUFFIX);
    if (len >= out_size)
        len = out_size - 1;
    memcpy(out, name, len);
    out[len] = '\0';
}

static int
by_name(const void *a, const void *b)
{
    return strcmp(last_part(*(char *const *)a), last_part(*(char *const *)b));
}

static bool
listed(const struct plugin_list *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(last_part(list->files[i]), name) == 0)
            return true;
    return false;
}

static int
list_folder(const char *folder, struct plugin_list *list, struct err *err)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    int rc = 0;

    if (dir == NULL)
        return 0;
    while (rc == 0 && (entry = readdir(dir)) != NULL) {
        size_t len = strlen(entry->d_name);
        char *file;

        if (!ends_in(entry->d_name, len, SUFFIX) || listed(list, entry->d_name))
            continue;
        file = list->n < FILES_MAX ? file_join(folder, entry->d_name) : NULL;
        if (file == NULL)
            rc = err_set(err, ERR_MEMORY, "%s: too many plugins", folder);
        else
            list->files[list->n++] = file;
    }
    closedir(dir);
    return rc;
}

int
plugin_paths_list(const struct plugin_paths *p, struct plugin_list *out,
                  struct err *err)
{
    out->n = 0;
    out->files = calloc(FILES_MAX, sizeof *out->files);
    if (out->files == NULL)
        return err_set(err, ERR_MEMORY, "plugins: out of memory");
    for (size_t i = 0; i < p->n; i++)
        if (list_folder(p->folders[i], out, err) != 0) {
            plugin_list_free(out);
            return -1;
        }
    qsort(out->files, out->n, sizeof *out->files, by_name);
    return 0;
}

void
plugin_list_free(struct plugin_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->files[i]);
    free(list->files);
    *list = (struct plugin_list){0};
}

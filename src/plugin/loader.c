/* SPDX-License-Identifier: MIT */
#include "plugin/loader.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/nearest.h"
#include "plugin/arguments.h"
#include "plugin/floatenv.h"
#include "plugin/paths.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* Frozen with the first release of ABI 1: never to be changed. */
#define LP64 (sizeof(void *) == 8)
#define TP_TUNER_SIZE_MIN (LP64 ? 120u : 72u)
#define TP_ASSESSOR_SIZE_MIN (LP64 ? 104u : 60u)
#define TP_ARG_SIZE_MIN (LP64 ? 56u : 40u)

#define SIZE_SANE 65536u /* a table or argument longer than this is garbage */
#define ARGS_MAX 256
#define NAME_MAX_LEN 64

_Static_assert(sizeof(struct tp_tuner) >= TP_TUNER_SIZE_MIN, "only grows");
_Static_assert(sizeof(struct tp_assessor) >= TP_ASSESSOR_SIZE_MIN,
               "only grows");
_Static_assert(sizeof(struct tp_arg) >= TP_ARG_SIZE_MIN, "only grows");

/* What all tables of callbacks begin with, for ever. */
struct head {
    uint64_t size;
    uint32_t magic, abi;
};

static int
refuse(const struct plugin *p, struct err *err, const char *member)
{
    return err_set(err, ERR_CONFIG, "%s: %s needs .%s", p->file,
                   plugin_kind_name(p->kind), member);
}

static uint32_t
magic_of(enum plugin_kind kind)
{
    switch (kind) {
    case PLUGIN_TUNER:
        return TP_TUNER_MAGIC;
    case PLUGIN_ASSESSOR:
        return TP_ASSESSOR_MAGIC;
    case PLUGIN_FILTER:
        break;
    }
    return TP_FILTER_MAGIC;
}

static int
check_head(const struct plugin *p, const struct head *h, struct err *err)
{
    uint32_t magic = magic_of(p->kind);
    unsigned least = p->kind == PLUGIN_TUNER      ? TP_TUNER_SIZE_MIN
                     : p->kind == PLUGIN_ASSESSOR ? TP_ASSESSOR_SIZE_MIN
                                                  : sizeof *h;
    const char *kind = plugin_kind_name(p->kind);

    if (h->magic != magic)
        return err_set(err, ERR_CONFIG,
                       "%s: not a table of a %s (_magic is 0x%08x, expected "
                       "0x%08x)",
                       p->file, kind, h->magic, magic);
    if (h->abi != TP_ABI)
        return err_set(err, ERR_CONFIG,
                       "%s: built for plugin ABI %u, this program has %u: "
                       "build it again with its headers",
                       p->file, h->abi, TP_ABI);
    if (h->size < least || h->size > SIZE_SANE)
        return err_set(err, ERR_CONFIG,
                       "%s: its table has %llu bytes (_struct_size), a %s of "
                       "ABI %u at least %u",
                       p->file, (unsigned long long)h->size, kind, TP_ABI,
                       least);
    return 0;
}

/* The defaults of optional callbacks: the only place that knows them. */

static int
config_default(void *self, const struct tp_value *values, size_t n)
{
    (void)self;
    (void)values;
    (void)n;
    return TP_OK;
}

static int
space_default(void *self, const struct tp_space *space)
{
    (void)self;
    (void)space;
    return TP_OK;
}

static int
tuner_ended_default(void *self, uint64_t id, const double *x, int how)
{
    (void)self;
    (void)id;
    (void)x;
    (void)how;
    return TP_OK;
}

static int
assessor_ended_default(void *self, const struct tp_history *history, int how)
{
    (void)self;
    (void)history;
    (void)how;
    return TP_OK;
}

/* Checks that a plugin has both save() and load(), or neither. */
static int
check_saving(const struct plugin *p, bool save, bool load, struct err *err)
{
    if (save == load)
        return 0;
    return refuse(p, err, save ? "load (it has .save)" : "save (it has .load)");
}

static size_t
smaller(uint64_t a, size_t b)
{
    return a < b ? (size_t)a : b;
}

static int
adopt_tuner(struct plugin *p, const void *theirs, uint64_t size,
            struct err *err)
{
    const uint32_t known = TP_TUNER_WHOLE | TP_TUNER_DEDUP | TP_TUNER_UNITS;
    struct tp_tuner *t = &p->tuner;

    memcpy(t, theirs, smaller(size, sizeof *t));
    t->_struct_size = sizeof *t;
    p->name = t->name;
    p->doc = t->doc;
    p->version = t->version;
    if (t->flags & ~known)
        return err_set(err, ERR_CONFIG,
                       "%s: .flags is 0x%x, this program knows 0x%x: it is "
                       "too old for it",
                       p->file, t->flags, known);
    if (t->create == NULL)
        return refuse(p, err, "create");
    if (t->destroy == NULL)
        return refuse(p, err, "destroy");
    if (t->ask == NULL)
        return refuse(p, err, "ask");
    if (t->tell == NULL)
        return refuse(p, err, "tell");
    if (t->config == NULL)
        t->config = config_default;
    if (t->space == NULL)
        t->space = space_default;
    if (t->ended == NULL)
        t->ended = tuner_ended_default;
    return check_saving(p, t->save != NULL, t->load != NULL, err);
}

static int
adopt_assessor(struct plugin *p, const void *theirs, uint64_t size,
               struct err *err)
{
    struct tp_assessor *a = &p->assessor;

    memcpy(a, theirs, smaller(size, sizeof *a));
    a->_struct_size = sizeof *a;
    p->name = a->name;
    p->doc = a->doc;
    p->version = a->version;
    if (a->create == NULL)
        return refuse(p, err, "create");
    if (a->destroy == NULL)
        return refuse(p, err, "destroy");
    if (a->assess == NULL)
        return refuse(p, err, "assess");
    if (a->config == NULL)
        a->config = config_default;
    if (a->ended == NULL)
        a->ended = assessor_ended_default;
    return check_saving(p, a->save != NULL, a->load != NULL, err);
}

static int
pass_space(void *self, const struct tp_next *next, const struct tp_space *space)
{
    (void)self;
    return next->space(next->ctx, space);
}

static int
pass_ask(void *self, const struct tp_next *next, uint64_t id,
         struct tp_suggestion *out)
{
    (void)self;
    return next->ask(next->ctx, id, out);
}

static int
pass_tell(void *self, const struct tp_next *next, uint64_t id, const double *x,
          const struct tp_result *result)
{
    (void)self;
    return next->tell(next->ctx, id, x, result);
}

static int
pass_ended(void *self, const struct tp_next *next, uint64_t id, const double *x,
           int how)
{
    (void)self;
    return next->ended(next->ctx, id, x, how);
}

static int
pass_takes(void *self, const struct tp_next *next, const double *x)
{
    (void)self;
    return next->takes(next->ctx, x);
}

/* Checks that a filter was built for just this host.  A filter has to know
 * every call that there is: so size and build have to be equal, not only
 * compatible. */
static int
check_build(const struct plugin *p, const struct tp_filter *theirs,
            struct err *err)
{
    if (theirs->_struct_size == sizeof *theirs && theirs->_build != NULL &&
        strcmp(theirs->_build, TP_VERSION) == 0)
        return 0;
    return err_set(err, ERR_CONFIG,
                   "%s: a filter of another build (tunepipe %.40s), this is "
                   "tunepipe %s: build both together",
                   p->file,
                   theirs->_struct_size == sizeof *theirs &&
                           theirs->_build != NULL
                       ? theirs->_build
                       : "unknown",
                   TP_VERSION);
}

static int
adopt_filter(struct plugin *p, const void *theirs, struct err *err)
{
    struct tp_filter *f = &p->filter;

    if (check_build(p, theirs, err) != 0)
        return -1;
    memcpy(f, theirs, sizeof *f);
    p->name = f->name;
    p->doc = f->doc;
    p->version = f->version;
    if (f->create == NULL)
        return refuse(p, err, "create");
    if (f->destroy == NULL)
        return refuse(p, err, "destroy");
    if (f->config == NULL)
        f->config = config_default;
    if (f->space == NULL)
        f->space = pass_space;
    if (f->ask == NULL)
        f->ask = pass_ask;
    if (f->tell == NULL)
        f->tell = pass_tell;
    if (f->ended == NULL)
        f->ended = pass_ended;
    if (f->takes == NULL)
        f->takes = pass_takes;
    return check_saving(p, f->save != NULL, f->load != NULL, err);
}

static int
adopt(struct plugin *p, const void *theirs, uint64_t size, struct err *err)
{
    switch (p->kind) {
    case PLUGIN_TUNER:
        return adopt_tuner(p, theirs, size, err);
    case PLUGIN_ASSESSOR:
        return adopt_assessor(p, theirs, size, err);
    case PLUGIN_FILTER:
        break;
    }
    return adopt_filter(p, theirs, err);
}

static int
check_names(const struct plugin *p, struct err *err)
{
    size_t len;

    if (p->name == NULL)
        return refuse(p, err, "name");
    if (p->doc == NULL)
        return refuse(p, err, "doc");
    len = strspn(p->name, "abcdefghijklmnopqrstuvwxyz0123456789_-");
    if (len == 0 || p->name[len] != '\0' || len > NAME_MAX_LEN)
        return err_set(err, ERR_CONFIG,
                       "%s: .name is '%.80s', expected 1 to %d of a-z, 0-9, "
                       "'_' and '-'",
                       p->file, p->name, NAME_MAX_LEN);
    if (strchr(p->doc, '\n') != NULL)
        return err_set(err, ERR_CONFIG, "%s: .doc has more than one line",
                       p->file);
    return 0;
}

static int
copy_args(struct plugin *p, const struct tp_arg *theirs, size_t n, size_t size,
          struct err *err)
{
    if (n == 0 || theirs == NULL)
        return n == 0 ? 0 : refuse(p, err, "args (.n_args is not 0)");
    if (n > ARGS_MAX)
        return err_set(err, ERR_CONFIG, "%s: .n_args is %zu, at most %d",
                       p->file, n, ARGS_MAX);
    if (size < TP_ARG_SIZE_MIN || size > SIZE_SANE)
        return err_set(err, ERR_CONFIG,
                       "%s: .arg_size is %zu, expected sizeof(struct tp_arg)",
                       p->file, size);
    p->args = calloc(n, sizeof *p->args);
    if (p->args == NULL)
        return err_set(err, ERR_MEMORY, "%s: out of memory", p->file);
    p->n_args = n;
    for (size_t i = 0; i < n; i++)
        memcpy(&p->args[i], (const char *)theirs + i * size,
               smaller(size, sizeof *p->args));
    if (arguments_check(p->args, n, err) != 0)
        return err_place(err, "%s", p->file);
    return 0;
}

/* Fills p (kind and file are set) from what the registration function
 * returned.  -1: err names file and member; p->args may have been set. */
static int
table_adopt(struct plugin *p, const void *theirs, struct err *err)
{
    struct head head;

    if (theirs == NULL)
        return err_set(err, ERR_CONFIG, "%s: its %s table is NULL", p->file,
                       plugin_kind_name(p->kind));
    memcpy(&head, theirs, sizeof head);
    if (check_head(p, &head, err) != 0)
        return -1;
    if (adopt(p, theirs, head.size, err) != 0 || check_names(p, err) != 0)
        return -1;
    if (p->kind == PLUGIN_TUNER)
        return copy_args(p, p->tuner.args, p->tuner.n_args, p->tuner.arg_size,
                         err);
    if (p->kind == PLUGIN_FILTER)
        return copy_args(p, p->filter.args, p->filter.n_args,
                         p->filter.arg_size, err);
    return copy_args(p, p->assessor.args, p->assessor.n_args,
                     p->assessor.arg_size, err);
}

/* ---- the library ---- */

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

/* The index in kinds_known of the first kind of a set. */
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
    if ((int)kind == PLUGIN_ANY)
        return "tuner, assessor or filter";
    return kinds_known[kind_index((int)kind)].name;
}

/* Checks the folder of a plugin: whoever can replace a file decides what it
 * does, so neither it nor its folder may be anyone's to write to.  (In a sticky
 * folder only owners rename.) */
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

/* Checks the file, behind links; its path goes into out[PATH_MAX]. */
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

/* Calls the registration function of the first wanted kind that the file
 * has. */
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

/* Appends "; there are: a, b, c" and the nearest name, as far as files can be
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
        err_set(err, ERR_CONFIG,
                "no %s '%.100s'%s; there are: %s" PLUGIN_PATHS_HINT,
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

/* Looks for a plugin by its own name, which lists, logs and experiments use;
 * its file may have another one. */
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
    if (p == NULL) { /* one of another kind may have the file of that name */
        p = load_by_own_name(paths, kind, name);
        if (p != NULL)
            err_clear(err);
    }
    return p;
}

/* SPDX-License-Identifier: MIT */
/* DESIGN.  A plugin may be older than this host (its table is shorter: what
 * it lacks is NULL here and gets its default) or newer (its table is longer:
 * the rest is not copied).  What it must have is what the first release of
 * this ABI had, as a number: written as sizeof it would refuse every older
 * plugin as soon as a member is added. */
#include "plugin/table.h"

#include "core/err.h"
#include "plugin/arguments.h"
#include "plugin/loader.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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

/* How both tables begin, for ever. */
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

/* Saving is both or nothing: there is no default. */
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

/* A filter has to know every call that there is, and nothing else about the
 * host: so size and build are the same, not only compatible. */
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

int
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

/* SPDX-License-Identifier: MIT */
#include "plugin/given_arg.h"

#include "core/buf.h"
#include "core/err.h"

#include <stdbool.h>
#include <string.h>

static bool
has_argument(const struct plugin_paths *paths, enum plugin_kind kind,
             const char *plugin, const char *name)
{
    struct plugin *p = plugin_load(paths, kind, plugin, NULL);
    bool found = false;

    for (size_t i = 0; p != NULL && i < p->n_args; i++)
        found |= strcmp(p->args[i].name, name) == 0;
    plugin_unload(p);
    return found;
}

static void
write_all(struct jval args, const char *name, const char *text, struct buf *out)
{
    struct jval_iter it = jval_iter(args);
    struct json_writer w = json_begin_object(out);

    json_add_text(&w, name, text);
    while (jval_next(&it))
        if (strcmp(it.key, name) != 0)
            jval_write(it.value, json_value(&w, it.key));
    json_close(&w);
}

/* Whether `args` lack the argument `name`.  Other mistakes in them are for
 * their reader to tell. */
static bool
lacks(struct jval args, const char *name)
{
    struct jval given;

    return (jval_type(args) == JSON_OBJECT || jval_type(args) == JSON_NULL) &&
           (!jval_get(args, name, &given) || jval_type(given) == JSON_NULL);
}

int
given_arg_set(struct jval args, const char *name, const char *text,
              struct json **out, struct err *err)
{
    struct buf all;

    *out = NULL;
    buf_init(&all, (size_t)16 << 20);
    write_all(args, name, text, &all);
    if (buf_check(&all, "classArgs", err) == 0)
        *out = json_parse(buf_text(&all), all.len, JSON_UNIQUE, err);
    buf_fini(&all);
    return *out == NULL ? -1 : 0;
}

int
given_arg_put(struct jval args, const char *name, const char *text,
              struct json **out, struct err *err)
{
    *out = NULL;
    return lacks(args, name) ? given_arg_set(args, name, text, out, err) : 0;
}

int
given_arg_complete(const struct plugin_paths *paths, enum plugin_kind kind,
                   const char *plugin, struct jval args, const char *name,
                   const char *text, struct json **out, struct err *err)
{
    *out = NULL;
    if (text == NULL || plugin == NULL || !lacks(args, name) ||
        !has_argument(paths, kind, plugin, name))
        return 0;
    return given_arg_put(args, name, text, out, err);
}

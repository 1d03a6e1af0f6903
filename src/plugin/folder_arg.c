/* SPDX-License-Identifier: MIT */
#include "plugin/folder_arg.h"

#include "core/buf.h"
#include "core/err.h"
#include "plugin/loader.h"

#include <stdbool.h>
#include <string.h>

#define NAME "all_checkpoint_dir"

static bool
takes_folder(const struct plugin_paths *paths, const char *tuner)
{
    struct plugin *p = plugin_load(paths, PLUGIN_TUNER, tuner, NULL);
    bool found = false;

    for (size_t i = 0; p != NULL && i < p->n_args; i++)
        found |= strcmp(p->args[i].name, NAME) == 0;
    plugin_unload(p);
    return found;
}

static void
write_all(struct jval args, const char *folder, struct buf *out)
{
    struct jval_iter it = jval_iter(args);

    buf_add_text(out, "{\"" NAME "\": ");
    json_write_string(out, folder, strlen(folder));
    while (jval_next(&it)) {
        if (strcmp(it.key, NAME) == 0)
            continue;
        buf_add_text(out, ", ");
        json_write_string(out, it.key, strlen(it.key));
        buf_add_text(out, ": ");
        jval_write(it.value, out);
    }
    buf_add_char(out, '}');
}

int
folder_arg_complete(const struct plugin_paths *paths, const char *tuner,
                    struct jval args, const char *folder, struct json **out,
                    struct err *err)
{
    struct jval given;
    struct buf text;

    *out = NULL;
    if (folder == NULL || tuner == NULL ||
        (jval_type(args) != JSON_OBJECT && jval_type(args) != JSON_NULL) ||
        (jval_get(args, NAME, &given) && jval_type(given) != JSON_NULL) ||
        !takes_folder(paths, tuner))
        return 0;
    buf_init(&text, (size_t)16 << 20);
    write_all(args, folder, &text);
    if (buf_check(&text, "classArgs", err) == 0)
        *out = json_parse(buf_text(&text), text.len, JSON_UNIQUE, err);
    buf_fini(&text);
    return *out == NULL ? -1 : 0;
}

/* SPDX-License-Identifier: MIT */
#include "cli/verb.h"

#include "cli/options.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "dispatcher/proxy_setup.h"
#include "json.h"
#include "plugin/argvalue.h"
#include "plugin/loader.h"
#include "plugin/paths.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define OUTPUT_MAX (16u << 20)

/* Appends an argument's range: "at least 1, at most 100", "best or mean", or
 * "". */
static void
write_range(const struct tp_arg *arg, struct buf *out)
{
    char expected[ARGVALUE_EXPECTED];
    const char *text = argvalue_expected(arg, expected);
    bool any_text = arg->type == TP_ARG_STRING && arg->choices == NULL;

    if (arg->type == TP_ARG_STRING && !any_text)
        buf_printf(out, ", %s", text);
    else if (strchr(text, ',') != NULL)
        buf_add_text(out, strchr(text, ','));
}

static void
write_arg(const struct tp_arg *arg, struct buf *out)
{
    buf_printf(out, "  %s (%s", arg->name, argvalue_type_name(arg->type));
    write_range(arg, out);
    if (arg->def == NULL)
        buf_add_text(out, ", required): ");
    else
        buf_printf(out, ", default %s): ", arg->def);
    buf_printf(out, "%s\n", arg->doc);
}

/* Whether the tuner decides itself how long trials run. */
static bool
advises(const struct plugin *p)
{
    return p->kind == PLUGIN_TUNER && p->tuner.metric != NULL;
}

/* Whether the tuner is told all of several values, and not one made of them:
 * so is a program, which has no file. */
static bool
takes_several(const struct plugin *p)
{
    return p->kind == PLUGIN_TUNER &&
           (p->tuner.objectives != NULL || p->file == NULL);
}

static void
write_plugin(const struct plugin *p, struct buf *out)
{
    buf_printf(out, "%s %s: %s%s%s\n", plugin_kind_name(p->kind), p->name,
               p->doc, advises(p) ? " (takes no assessor)" : "",
               takes_several(p) ? " (takes several objectives)" : "");
    for (size_t i = 0; i < p->n_args; i++)
        write_arg(&p->args[i], out);
}

static void
write_arg_json(const struct tp_arg *arg, struct json_writer *w)
{
    bool bounded = (arg->type == TP_ARG_INT || arg->type == TP_ARG_DOUBLE) &&
                   (arg->low != 0 || arg->high != 0);

    json_open_object(w, NULL);
    json_add_text(w, "name", arg->name);
    json_add_text(w, "type", argvalue_type_name(arg->type));
    json_add_bool(w, "nullable", arg->nullable);
    json_add_bool(w, "required", arg->def == NULL);
    json_add_raw(w, "default", arg->def);
    json_add_number(w, "low", bounded ? arg->low : (double)NAN);
    json_add_number(w, "high", bounded ? arg->high : (double)NAN);
    json_add_text(w, "choices", arg->choices);
    json_add_text(w, "doc", arg->doc);
    json_close(w);
}

static void
write_plugin_json(const struct plugin *p, struct buf *out)
{
    struct json_writer w = json_begin_object(out);

    json_add_text(&w, "kind", plugin_kind_name(p->kind));
    json_add_text(&w, "name", p->name);
    json_add_unsigned(&w, "version", p->version);
    json_add_text(&w, "file", p->file);
    json_add_text(&w, "doc", p->doc);
    json_add_bool(&w, "advises", advises(p));
    json_add_bool(&w, "takes_several", takes_several(p));
    json_open_array(&w, "arguments");
    for (size_t i = 0; i < p->n_args; i++)
        write_arg_json(&p->args[i], &w);
    json_end(&w);
}

static void
write_loaded(const struct plugin *p, bool json, struct json_writer *list)
{
    if (json)
        write_plugin_json(p, json_value(list, NULL));
    else
        write_plugin(p, list->out);
}

/* Appends a file: what plugin it is, or why it is refused. */
static void
write_file(const char *file, bool json, struct json_writer *list)
{
    struct err err;
    struct plugin *p = plugin_load_file(file, PLUGIN_ANY, &err);
    struct json_writer w;

    if (p == NULL && json) {
        w = json_begin_object(json_value(list, NULL));
        json_add_text(&w, "file", file);
        json_add_text(&w, "error", err.text);
        json_close(&w);
    } else if (p == NULL) {
        buf_printf(list->out, "refused %s\n", err.text);
    } else {
        write_loaded(p, json, list);
    }
    plugin_unload(p);
}

/* Appends `exec`, which is no plugin: it is in the dispatcher. */
static void
write_programs(bool json, struct json_writer *list)
{
    struct plugin p = {.name = "exec",
                       .doc = "a program that speaks the protocol, in any "
                              "language (PROTOCOL.md, \"Programs\")",
                       .version = PROXY_VERSION};
    size_t n;

    p.args = (struct tp_arg *)proxy_arguments(&n);
    p.n_args = n;
    for (int i = 0; i < 2; i++) {
        p.kind = i == 0 ? PLUGIN_TUNER : PLUGIN_ASSESSOR;
        write_loaded(&p, json, list);
    }
}

/* Appends the plugins of all folders. */
static int
write_all(const struct plugin_paths *paths, bool json, struct json_writer *list,
          struct err *err)
{
    struct plugin_list files = {0};
    int rc = plugin_paths_list(paths, &files, err);

    for (size_t i = 0; i < files.n; i++)
        write_file(files.files[i], json, list);
    write_programs(json, list);
    if (!json && rc == 0 && files.n == 0)
        for (size_t i = 0; i < plugin_paths_count(paths); i++)
            buf_printf(list->out, "no plugins in %s\n",
                       plugin_paths_at(paths, i));
    plugin_list_free(&files);
    return rc;
}

/* Appends the plugin of that name. */
static int
write_named(const struct plugin_paths *paths, const char *name, bool json,
            struct json_writer *list, struct err *err)
{
    static const enum plugin_kind kinds[] = {PLUGIN_TUNER, PLUGIN_ASSESSOR,
                                             PLUGIN_FILTER};
    struct err other;
    size_t n = 0;

    if (strcmp(name, "exec") == 0) {
        write_programs(json, list);
        return 0;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct plugin *p = plugin_load(paths, kinds[i], name, &other);

        if (p == NULL)
            continue;
        write_loaded(p, json, list);
        plugin_unload(p);
        n++;
    }
    if (n > 0)
        return 0;
    plugin_unload(plugin_load(paths, PLUGIN_ANY, name, err));
    err->code = ERR_USAGE;
    return -1;
}

/* Writes the plugin of that name; NULL: all. */
static int
list(const char *option, const char *name, bool json, struct buf *out,
     struct err *err)
{
    struct plugin_paths *paths = plugin_paths_new(option, err);
    struct json_writer w = json_begin(out);
    int rc;

    if (paths == NULL)
        return -1;
    json_separate(&w, ",\n ", ": ");
    if (json)
        json_open_array(&w, NULL);
    rc = name == NULL ? write_all(paths, json, &w, err)
                      : write_named(paths, name, json, &w, err);
    if (json) {
        json_close(&w);
        buf_add_char(out, '\n');
    }
    plugin_paths_free(paths);
    return rc != 0 ? rc : buf_check(out, "list of plugins", err);
}

struct words {
    const char *path;
    bool json;
};

static const struct option options[] = {
    {"plugin-path", OPTION_TEXT, offsetof(struct words, path), "FOLDERS"},
    {"json", OPTION_FLAG, offsetof(struct words, json), NULL},
};
#define N_OPTIONS (sizeof options / sizeof *options)

static int
run(int argc, char **argv)
{
    struct words w = {0};
    struct err err = {0};
    struct buf out;
    int fd, rc;

    if (options_parse(options, N_OPTIONS, &w, &argc, argv, &err) != 0)
        return verb_fail("tuners", &err);
    if (argc > 2) {
        err_set(&err, ERR_USAGE, "unexpected '%s'", argv[2]);
        return verb_fail("tuners", &err);
    }
    fd = verb_shield_stdout(&err);
    if (fd < 0)
        return verb_fail("tuners", &err);
    buf_init(&out, OUTPUT_MAX);
    rc = list(w.path, argv[1], w.json, &out, &err);
    if (rc == 0)
        rc = file_write_all(fd, out.data, out.len, &err);
    close(fd);
    buf_fini(&out);
    return rc == 0 ? EXIT_DONE : verb_fail("tuners", &err);
}

const struct verb verb_tuners = {
    .name = "tuners",
    .summary = "list tuners, assessors and filters with their arguments",
    .help =
        "usage: tunepipe tuners [NAME] [--json] [--plugin-path FOLDERS]\n"
        "\n"
        "Lists each tuner, assessor and filter that an experiment can name, or\n"
        "that of this name, with its arguments: type, range, default, meaning.\n"
        "A file that cannot be used stands there with the reason.\n"
        "\n"
        "  --plugin-path FOLDERS  looked through first; separated by colons\n"
        "  --json                 the same as a JSON array\n"
        "\n"
        "Then come the folders of $TUNEPIPE_PLUGIN_PATH, `plugins` beside the\n"
        "program, and `../lib/tunepipe/plugins` from there.\n"
        "\n"
        "Exit status: 0 listed; 1 not all printed; 2 usage.\n"
        "\n"
        "Example: tunepipe tuners tpe\n",
    .run = run,
    .options = options,
    .n_options = N_OPTIONS,
    .operand = "TUNER",
};

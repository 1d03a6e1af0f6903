/* SPDX-License-Identifier: MIT */
/* Runs every tuner in the build folder over every kind of space, through
 * every order of calls. */
#include "unit/tuner_orders.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/problems.h"
#include "plugin/loader.h"
#include "plugin/paths.h"
#include "space/space.h"
#include "t.h"

#include <string.h>

static struct space *
space_of(const char *text)
{
    struct err err = {0};
    struct json *doc = json_parse(text, strlen(text), 0, &err);
    struct problems problems;
    struct space *s;

    CHECK_STR(err.text, "");
    problems_init(&problems);
    s = space_parse(json_root(doc), &problems);
    CHECK_STR(buf_text(&problems.lines), "");
    problems_fini(&problems);
    json_free(doc);
    return s;
}

/* Runs all tuners over each space, with the one after it as the other. */
static void
run_tuners(struct space **spaces, size_t n)
{
    struct plugin_paths *paths = plugin_paths_new(t_build("plugins"), NULL);
    struct plugin_list list;
    size_t n_tuners = 0;

    CHECK(plugin_paths_list(paths, &list, NULL) == 0);
    for (size_t i = 0; i < list.n; i++) {
        struct plugin *p = plugin_load_file(list.files[i], PLUGIN_TUNER, NULL);

        if (p == NULL)
            continue;
        for (size_t k = 0; k < n; k++)
            tuner_orders(p, spaces[k], spaces[(k + 1) % n]);
        plugin_unload(p);
        n_tuners++;
    }
    CHECK(n_tuners > 0);
    plugin_list_free(&list);
    plugin_paths_free(paths);
    for (size_t k = 0; k < n; k++)
        space_free(spaces[k]);
}

#define ONE(type, value) \
    "{\"p\": {\"_type\": \"" type "\", \"_value\": " value "}}"

TEST(conformance_tuners_on_each_kind_of_dimension)
{
    static const char *const texts[] = {
        ONE("choice", "[1, \"b\", null, 2.5]"),
        ONE("randint", "[-3, 4]"),
        ONE("uniform", "[-5, 5]"),
        ONE("quniform", "[0, 10, 2.5]"),
        ONE("loguniform", "[0.0001, 1]"),
        ONE("qloguniform", "[1, 1000, 7]"),
        ONE("normal", "[1, 2]"),
        ONE("qnormal", "[1, 2, 0.5]"),
        ONE("lognormal", "[1, 0.5]"),
        ONE("qlognormal", "[1, 0.5, 0.25]"),
    };
    struct space *spaces[sizeof texts / sizeof *texts];

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        spaces[i] = space_of(texts[i]);
    run_tuners(spaces, sizeof texts / sizeof *texts);
}

#define U "{\"_type\": \"uniform\", \"_value\": [0, 1]}"
#define CHOICE(values) "{\"_type\": \"choice\", \"_value\": [" values "]}"

TEST(conformance_tuners_on_mixed_nested_and_degenerate_spaces)
{
    static const char mixed[] = "{\"c\": " CHOICE(
        "\"r\", \"s\", \"t\"") ", \"u\": " U ", \"n\": "
                               "{\"_type\": \"normal\", \"_value\": [0, 1]}, \"q\": {\"_type\": "
                               "\"quniform\", \"_value\": [1, 9, 2]}, \"l\": {\"_type\": "
                               "\"loguniform\", \"_value\": [0.001, 10]}, \"i\": {\"_type\": "
                               "\"randint\", \"_value\": [0, 100]}}";
    static const char nested[] =
        "{\"net\": " CHOICE("{\"_name\": \"a\", \"u\": " U ", \"v\": " U
                            "}, {\"_name\": \"b\", \"w\": " U
                            "}, {\"_name\": \"c\"}") ", \"z\": " U "}";
    static const char deep[] = "{\"a\": " CHOICE(
        "{\"_name\": \"1\", \"b\": " CHOICE("{\"_name\": \"2\", \"c\": " CHOICE(
            "{\"_name\": \"3\", \"u\": " U
            "}, {\"_name\": \"4\"}") "}, "
                                     "{\"_name\": \"5\"}") "}, {\"_name\": \"6\"}") "}";
    struct space *spaces[] = {
        space_of(mixed),
        space_of(nested),
        space_of(deep),
        space_of("{\"c\": " CHOICE("7") "}"),
        space_of("{\"q\": {\"_type\": \"quniform\", \"_value\": [3, 3, 1]}}"),
        space_of(ONE("choice", "[1, 2, 3]")),
        space_of("{}"),
    };

    CHECK(space_make_whole(spaces[5], NULL) == 0);
    run_tuners(spaces, sizeof spaces / sizeof *spaces);
}

TEST(conformance_tuners_on_a_thousand_dimensions)
{
    struct space *spaces[2];
    struct buf text;

    buf_init(&text, 1 << 20);
    buf_add_char(&text, '{');
    for (int i = 0; i < 1000; i++)
        buf_printf(&text, "%s\"d%d\": " U, i > 0 ? ", " : "", i);
    buf_add_char(&text, '}');
    spaces[0] = space_of(buf_text(&text));
    spaces[1] = space_of("{\"u\": " U "}");
    buf_fini(&text);
    run_tuners(spaces, 2);
}

/* SPDX-License-Identifier: MIT */
/* Runs every plugin in the build folder over every kind of space, through
 * every order of calls, twice in one process; the second time it is exchanged
 * again and again for one that was loaded from what it saved, and then that is
 * damaged. */
#include "check/saving.h"

#include "check/calls.h"
#include "check/spaces.h"
#include "core/err.h"
#include "plugin/loader.h"
#include "plugin/paths.h"
#include "t.h"

#include <string.h>

NOT_UNDER_TSAN;
NOT_WITH_CLANG;
NOT_IN_RELEASE;

static void
check_one(const struct plugin *p, const struct spaces *spaces)
{
    struct calls_seen seen = {.taken = 0};
    struct calls_setup setup = {.plugin = p, .seen = &seen};
    struct err err = {0};

    CHECK(saving_is_possible(p));
    if (strcmp(p->name, "error") == 0)
        setup.args = "{\"every\": 1000000000}";
    else if (strcmp(p->name, "delay") == 0)
        setup.args = "{\"ms\": 0}";
    saving_check(&setup, spaces, &err);
    CHECK_STR(err.text, "");
    CHECK(seen.points + seen.verdicts > 0);
    CHECK(seen.loads > 100);
    CHECK(seen.state_max == 0 || seen.refused_states > 0);
}

static void
check_all(enum plugin_kind kind, size_t least)
{
    struct plugin_paths *paths = plugin_paths_new(t_build("plugins"), NULL);
    struct plugin_list list;
    struct spaces spaces;
    size_t n = 0;

    CHECK(spaces_init(&spaces, NULL) == 0);
    CHECK(plugin_paths_list(paths, &list, NULL) == 0);
    for (size_t i = 0; i < list.n; i++) {
        struct plugin *p = plugin_load_file(list.files[i], (int)kind, NULL);

        if (p == NULL)
            continue;
        check_one(p, &spaces);
        plugin_unload(p);
        n++;
    }
    CHECK(n >= least);
    plugin_list_free(&list);
    plugin_paths_free(paths);
    spaces_fini(&spaces);
}

TEST(conformance_saving_tuners)
{
    check_all(PLUGIN_TUNER, 3);
}

TEST(conformance_saving_assessors)
{
    check_all(PLUGIN_ASSESSOR, 1);
}

TEST(conformance_saving_filters)
{
    check_all(PLUGIN_FILTER, 6);
}

/* SPDX-License-Identifier: MIT */
/* Runs each filter through every order of calls in spaces of all sorts, around
 * a tuner that gives points, and around one that does not always. */
#include "check/tuner_orders.h"

#include "check/calls.h"
#include "check/inner.h"
#include "check/spaces.h"
#include "plugin/loader.h"
#include "plugin/paths.h"
#include "t.h"

#include <stdio.h>
#include <string.h>

NOT_UNDER_TSAN;
NOT_WITH_CLANG;

static void
run_filter(const struct plugin *p, const struct spaces *s, int mood)
{
    struct calls_seen seen = {.taken = 0};
    const struct calls_setup setup = {
        .plugin = p, .seen = &seen, .mood = (enum inner_mood)mood};
    struct err err = {0};

    for (size_t i = 0; i < s->n; i++) {
        tuner_orders(&setup, s->at[i].title, s->at[i].space,
                     s->at[(i + 1) % s->n].space, &err);
        CHECK_STR(err.text, "");
    }
    CHECK(seen.points > 0);
}

static void
run_extremes(const struct plugin *p, const struct spaces *s)
{
    struct calls_seen seen = {.taken = 0};
    struct calls_setup setup = {.plugin = p, .seen = &seen};
    struct err err = {0};

    for (size_t i = 0; i < s->n; i++) {
        printf("# %s: %s\n", p->name, s->at[i].title);
        tuner_extreme(&setup, &s->at[i], &err);
        CHECK_STR(err.text, "");
    }
}

/* All but `error`, whose callbacks fail on purpose. */
TEST(conformance_filters_around_tuners_of_all_moods)
{
    struct plugin_paths *paths = plugin_paths_new(t_build("plugins"), NULL);
    struct plugin_list list;
    struct spaces spaces, extremes;
    size_t n = 0;

    CHECK(spaces_init(&spaces, NULL) == 0);
    CHECK(spaces_init_extreme(&extremes, NULL) == 0);
    CHECK(plugin_paths_list(paths, &list, NULL) == 0);
    for (size_t i = 0; i < list.n; i++) {
        struct plugin *p = plugin_load_file(list.files[i], PLUGIN_FILTER, NULL);

        if (p != NULL && strcmp(p->name, "error") != 0) {
            for (int mood = 0; mood < INNER_MOODS; mood++)
                run_filter(p, &spaces, mood);
            run_extremes(p, &extremes);
            n++;
        }
        plugin_unload(p);
    }
    CHECK(n >= 5);
    spaces_fini(&extremes);
    spaces_fini(&spaces);
    plugin_list_free(&list);
    plugin_paths_free(paths);
}

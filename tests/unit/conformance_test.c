/* SPDX-License-Identifier: MIT */
/* Runs every plugin in the build folder over every kind of space, through
 * every order of calls, twice in one process. */
#include "check/tuner_orders.h"

#include "check/answers.h"
#include "check/assessor_orders.h"
#include "check/calls.h"
#include "check/spaces.h"
#include "core/buf.h"
#include "plugin/loader.h"
#include "plugin/paths.h"
#include "t.h"

NOT_UNDER_TSAN;

static void
run_plugin(const struct plugin *p, const struct spaces *s, struct buf *answers)
{
    struct calls_seen seen = {.taken = 0};
    const struct calls_setup setup = {
        .plugin = p, .seen = &seen, .answers = answers};
    struct err err = {0};

    if (p->kind == PLUGIN_ASSESSOR)
        assessor_orders(&setup, &err);
    for (size_t i = 0; p->kind == PLUGIN_TUNER && i < s->n; i++) {
        tuner_orders(&setup, s->at[i].title, s->at[i].space,
                     s->at[(i + 1) % s->n].space, &err);
        CHECK_STR(err.text, "");
    }
    CHECK_STR(err.text, "");
    CHECK(seen.points + seen.verdicts > 0);
}

static void
run_twice(const struct plugin *p, const struct spaces *s)
{
    struct buf first, second;
    struct err err = {0};

    buf_init(&first, (size_t)256 << 20);
    buf_init(&second, (size_t)256 << 20);
    run_plugin(p, s, &first);
    run_plugin(p, s, &second);
    answers_compare(buf_text(&first), buf_text(&second), &err);
    CHECK_STR(err.text, "");
    CHECK(!first.failed && !second.failed);
    buf_fini(&first);
    buf_fini(&second);
}

static void
run_all(enum plugin_kind kind)
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
        run_twice(p, &spaces);
        plugin_unload(p);
        n++;
    }
    CHECK(n > 0);
    plugin_list_free(&list);
    plugin_paths_free(paths);
    spaces_fini(&spaces);
}

TEST(conformance_tuners_in_every_space_and_order)
{
    run_all(PLUGIN_TUNER);
}

TEST(conformance_assessors_in_every_order)
{
    run_all(PLUGIN_ASSESSOR);
}

TEST(conformance_differences_are_shown)
{
    struct err err = {0};

    CHECK_EQ(answers_compare("# a\n1\n2\n", "# a\n1\n2\n", &err), 0);
    CHECK_EQ(answers_compare("", "", &err), 0);
    CHECK_EQ(answers_compare("# a\n1\n# b\n2\n", "# a\n1\n# b\n3\n", &err), -1);
    CHECK_STR(err.text, "first '2', then '3', with the same seed and calls; b");
    CHECK_EQ(answers_compare("# a\n1\n", "# a\n1\n2\n", &err), -1);
    CHECK_STR(err.text, "first '', then '2', with the same seed and calls; a");
}

/* SPDX-License-Identifier: MIT */
#include "plugin/tuner.h"

#include "core/err.h"
#include "core/problems.h"
#include "plugin/paths.h"
#include "space/space.h"
#include "t.h"

#include <stdlib.h>
#include <string.h>

NOT_UNDER_TSAN;

#define DIMS 2

static struct json *
json_of(const char *text)
{
    struct err err = {0};
    struct json *doc = json_parse(text, strlen(text), 0, &err);

    CHECK_STR(err.text, "");
    return doc;
}

static struct space *
space_new(void)
{
    struct json *doc =
        json_of("{\"lr\": {\"_type\": \"loguniform\", \"_value\": [0.001, 1]}, "
                "\"n\": {\"_type\": \"normal\", \"_value\": [0, 1]}}");
    struct problems problems;
    struct space *s;

    problems_init(&problems);
    s = space_parse(json_root(doc), &problems);
    CHECK(s != NULL);
    problems_fini(&problems);
    json_free(doc);
    return s;
}

static struct tuner *
random_new(const char *args, uint64_t seed, const struct space *space)
{
    struct err err = {0};
    struct plugin_paths *paths = plugin_paths_new(t_build("plugins"), &err);
    struct json *doc = json_of(args);
    struct tuner *t =
        tuner_new(paths, "Random", json_root(doc), seed, NULL, &err);

    CHECK_STR(err.text, "");
    CHECK(tuner_space(t, space, &err) == 0);
    json_free(doc);
    plugin_paths_free(paths);
    return t;
}

static void
ask(struct tuner *t, uint64_t id, double *x)
{
    struct err err = {0};
    char *label;

    CHECK_EQ(tuner_ask(t, id, x, &label, &err), TP_OK);
    CHECK_STR(err.text, "");
    CHECK(label == NULL);
}

TEST(random_tuner_samples_the_prior_by_seed_and_id)
{
    struct space *space = space_new();
    struct tuner *t = random_new("{}", 9, space);
    double x[DIMS], want[DIMS];

    CHECK(tuner_seed(t) == 9);
    for (uint64_t id = 10; id-- > 0;) { /* whatever the order */
        ask(t, id, x);
        space_sample(space, 9, id, want);
        CHECK(memcmp(x, want, sizeof x) == 0);
    }
    tuner_free(t);
    space_free(space);
}

TEST(random_tuner_takes_its_seed_from_the_arguments_first)
{
    struct space *space = space_new();
    struct tuner *given =
        random_new("{\"seed\": 9, \"optimize_mode\": \"maximize\"}", 1, space);
    struct tuner *null = random_new("{\"seed\": null}", 1, space);
    double x[DIMS], want[DIMS];

    CHECK(tuner_seed(given) == 9 && tuner_seed(null) == 1);
    ask(given, 3, x);
    space_sample(space, 9, 3, want);
    CHECK(memcmp(x, want, sizeof x) == 0);
    ask(null, 3, x);
    CHECK(memcmp(x, want, sizeof x) != 0);
    tuner_free(given);
    tuner_free(null);
    space_free(space);
}

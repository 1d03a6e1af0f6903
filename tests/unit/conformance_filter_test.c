/* SPDX-License-Identifier: MIT */
/* Runs each filter around `random`, which then has to do all that a tuner
 * has to: every order of calls, twice, in spaces of all sorts.  The pair is
 * made to look like one tuner, because that is what is run. */
#include "check/tuner_orders.h"

#include "check/calls.h"
#include "check/fakehost.h"
#include "check/spaces.h"
#include "plugin/arguments.h"
#include "plugin/loader.h"
#include "plugin/paths.h"
#include "t.h"

#include <stdlib.h>
#include <string.h>

/* A table of callbacks has no place for what it is made of; each test is a
 * process of its own. */
static const struct plugin *filter, *tuner;

struct pair {
    struct arguments *args;
    void *filter, *tuner;
    struct tp_next next;
};

static int
next_space(void *ctx, const struct tp_space *space)
{
    return tuner->tuner.space(ctx, space);
}

static int
next_ask(void *ctx, uint64_t id, struct tp_suggestion *out)
{
    return tuner->tuner.ask(ctx, id, out);
}

static int
next_tell(void *ctx, uint64_t id, const double *x,
          const struct tp_result *result)
{
    return tuner->tuner.tell(ctx, id, x, result);
}

static int
next_ended(void *ctx, uint64_t id, const double *x, int how)
{
    return tuner->tuner.ended(ctx, id, x, how);
}

static const char *
next_why(void *ctx)
{
    (void)ctx;
    return "tuner random: failed";
}

static void *
pair_create(const struct tp_host *host)
{
    struct pair *p = calloc(1, sizeof *p);

    p->tuner = tuner->tuner.create(host);
    p->filter = filter->filter.create(host);
    CHECK(p->tuner != NULL && p->filter != NULL);
    p->next = (struct tp_next){p->tuner,  next_space, next_ask,
                               next_tell, next_ended, next_why};
    return p;
}

static void
pair_destroy(void *vself)
{
    struct pair *p = vself;

    filter->filter.destroy(p->filter);
    tuner->tuner.destroy(p->tuner);
    arguments_free(p->args);
    free(p);
}

static int
pair_config(void *vself, const struct tp_value *values, size_t n)
{
    struct pair *p = vself;
    struct err err = {0};

    (void)values;
    (void)n;
    p->args = fake_arguments(filter, NULL, &err);
    CHECK_STR(err.text, "");
    return filter->filter.config(p->filter, arguments_values(p->args),
                                 filter->n_args);
}

static int
pair_space(void *vself, const struct tp_space *space)
{
    struct pair *p = vself;

    return filter->filter.space(p->filter, &p->next, space);
}

static int
pair_ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct pair *p = vself;

    return filter->filter.ask(p->filter, &p->next, id, out);
}

static int
pair_tell(void *vself, uint64_t id, const double *x,
          const struct tp_result *result)
{
    struct pair *p = vself;

    return filter->filter.tell(p->filter, &p->next, id, x, result);
}

static int
pair_ended(void *vself, uint64_t id, const double *x, int how)
{
    struct pair *p = vself;

    return filter->filter.ended(p->filter, &p->next, id, x, how);
}

static void
run_filter(const struct plugin *p, const struct spaces *s)
{
    struct plugin pair = {
        .kind = PLUGIN_TUNER,
        .name = p->name,
        .doc = p->doc,
        .tuner = {TP_TUNER_HEAD, .create = pair_create, .destroy = pair_destroy,
                  .config = pair_config, .space = pair_space, .ask = pair_ask,
                  .tell = pair_tell, .ended = pair_ended},
    };
    struct calls_seen seen = {.taken = 0};
    const struct calls_setup setup = {.plugin = &pair, .seen = &seen};
    struct err err = {0};

    filter = p;
    for (size_t i = 0; i < s->n; i++) {
        tuner_orders(&setup, s->at[i].title, s->at[i].space,
                     s->at[(i + 1) % s->n].space, &err);
        CHECK_STR(err.text, "");
    }
    CHECK(seen.points > 0);
}

/* All but `error`, whose callbacks fail on purpose. */
TEST(conformance_filters_around_random)
{
    struct plugin_paths *paths = plugin_paths_new(t_build("plugins"), NULL);
    struct plugin *random = plugin_load(paths, PLUGIN_TUNER, "random", NULL);
    struct plugin_list list;
    struct spaces spaces;
    size_t n = 0;

    CHECK(random != NULL);
    CHECK(spaces_init(&spaces, NULL) == 0);
    tuner = random;
    CHECK(plugin_paths_list(paths, &list, NULL) == 0);
    for (size_t i = 0; i < list.n; i++) {
        struct plugin *p = plugin_load_file(list.files[i], PLUGIN_FILTER, NULL);

        if (p != NULL && strcmp(p->name, "error") != 0) {
            run_filter(p, &spaces);
            n++;
        }
        plugin_unload(p);
    }
    CHECK(n >= 5);
    plugin_unload(random);
    spaces_fini(&spaces);
    plugin_list_free(&list);
    plugin_paths_free(paths);
}

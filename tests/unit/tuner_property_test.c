/* SPDX-License-Identifier: MIT */
/* What holds for every tuner there is, in every kind of space, through long
 * random sessions: points lie where they may, and a tuner that was saved and
 * loaded goes on as the one that was not; and asked where there is hardly a
 * point to find, it answers. */
#include "plugin/tuner.h"

#include "check/spaces.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/pack.h"
#include "objectives/objectives.h"
#include "plugin/loader.h"
#include "plugin/paths.h"
#include "space/space.h"
#include "t.h"
#include "unit/space_help.h"

#include <math.h>

NOT_UNDER_TSAN;
NOT_WITH_CLANG;

#define STEPS 160
#define OUT_MAX 12

struct out {
    uint64_t id;
    double *x;
    bool told;
};

/* One session: two tuners that get the same calls. */
struct pair {
    const struct plugin_paths *paths;
    const char *name;
    struct space *space;
    const struct objectives *objectives; /* NULL: results are one value */
    bool takes_several;
    size_t n_dims;
    struct tuner *tuner, *twin;
    struct out out[OUT_MAX];
    size_t n_out;
    uint64_t next_id, random;
    double *x, *y;
};

static uint64_t
below(struct pair *p, uint64_t n)
{
    p->random = p->random * 6364136223846793005u + 1442695040888963407u;
    return (p->random >> 33) % n;
}

static struct tuner *
open_tuner(const struct pair *p)
{
    struct json *none = help_json("{}");
    struct err err = {0};
    struct tuner *t =
        tuner_new(p->paths, p->name, json_root(none), 4, NULL, &err);

    CHECK_STR(err.text, "");
    json_free(none);
    if (p->objectives != NULL)
        CHECK(tuner_objectives(t, p->objectives, NULL, &err) == 0);
    if (tuner_space(t, p->space, &err) == 0)
        return t;
    tuner_free(t); /* batch wants one choice, grid fewer points; a budget has to
                      have a name */
    return NULL;
}

static void
check_point(const struct pair *p)
{
    const struct tp_space *s = space_dims(p->space);
    struct err err = {0};

    CHECK(space_check(p->space, p->x, &err) == 0);
    for (size_t i = 0; i < s->n_dims; i++) {
        const struct tp_dim *d = TP_DIM(s, i);
        bool active = d->parent == TP_NO_PARENT ||
                      p->x[d->parent] == (double)d->parent_choice;

        CHECK(active == !isnan(p->x[i]));
        CHECK(!active || (p->x[i] >= d->low && p->x[i] <= d->high));
        CHECK(!active || !(d->flags & TP_DIM_INDEX) ||
              p->x[i] == floor(p->x[i]));
    }
}

static void
ask(struct pair *p, uint64_t id)
{
    size_t bytes = p->n_dims * sizeof *p->x;
    struct err err = {0};
    char *label = NULL, *other = NULL;
    int rc = tuner_ask(p->tuner, id, p->x, &label, &err);

    CHECK_STR(err.text, "");
    CHECK_EQ(tuner_ask(p->twin, id, p->y, &other, &err), rc);
    free(label);
    free(other);
    if (rc != TP_OK)
        return;
    check_point(p);
    CHECK(bytes == 0 || memcmp(p->x, p->y, bytes) == 0);
    if (p->n_out > 0 && p->out[p->n_out - 1].id == id) {
        memcpy(p->out[p->n_out - 1].x, p->x, bytes);
        return;
    }
    memcpy(p->out[p->n_out].x, p->x, bytes);
    p->out[p->n_out].id = id;
    p->out[p->n_out++].told = false;
    p->next_id = id + 1;
}

/* Of which one in twelve is no number. */
static double
draw_value(struct pair *p)
{
    double v = (double)below(p, 40) / 8;

    if (below(p, 12) == 0)
        v = below(p, 2) == 0 ? NAN : -(double)INFINITY;
    return v;
}

/* Of two objectives, and how far beyond the limit. */
static double
draw_values(struct pair *p, double values[2])
{
    values[0] = draw_value(p);
    values[1] = draw_value(p);
    return below(p, 3) > 0    ? 0
           : below(p, 9) == 0 ? (double)INFINITY
                              : (double)below(p, 20) / 4;
}

static void
tell(struct pair *p, uint64_t id, const double *x, int how)
{
    struct tp_result result = {._struct_size = sizeof result, .how = how};
    struct err err = {0};
    double values[2];

    if (p->objectives == NULL) {
        result.value = draw_value(p);
    } else if (how != TP_RESULT_STOPPED || below(p, 3) > 0) {
        result.violation = draw_values(p, values);
        result.values = values;
        result.n_values = 2;
    } else {
        result.value = NAN;
    }
    result.step = how == TP_RESULT_STOPPED ? below(p, 9) : 0;
    CHECK(tuner_tell(p->tuner, id, x, &result, &err) == 0);
    CHECK(tuner_tell(p->twin, id, x, &result, &err) == 0);
}

/* Of one that has not ended. */
static void
metric(struct pair *p)
{
    const struct out *o = &p->out[below(p, p->n_out)];
    struct tp_metric m = {.value = (double)below(p, 40) / 8,
                          .step = below(p, 70)};
    double values[2];
    struct tp_verdict one = {.decision = TP_GO}, other = {.decision = TP_GO};
    struct err err = {0};

    if (below(p, 12) == 0)
        m.value = NAN;
    if (p->objectives != NULL) {
        m.violation = draw_values(p, values);
        m.values = values;
        m.n_values = 2;
    }
    CHECK(tuner_metric(p->tuner, o->id, o->x, &m, &one, &err) == 0);
    CHECK(tuner_metric(p->twin, o->id, o->x, &m, &other, &err) == 0);
    CHECK_EQ(one.decision, other.decision);
}

static void
end(struct pair *p, size_t i, int how)
{
    struct out o = p->out[i];
    struct err err = {0};

    CHECK(tuner_ended(p->tuner, o.id, o.x, how, &err) == 0);
    CHECK(tuner_ended(p->twin, o.id, o.x, how, &err) == 0);
    p->n_out--;
    memmove(&p->out[i], &p->out[i + 1], (p->n_out - i) * sizeof o);
    p->out[p->n_out] = o; /* its memory stays in use */
}

/* Of one in four the point was moved by a filter. */
static void
finish(struct pair *p, size_t i)
{
    struct out *o = &p->out[i];
    int how = below(p, 5) == 0 ? TP_RESULT_STOPPED : TP_RESULT_FINAL;

    if (!o->told && below(p, 4) == 0)
        space_sample(p->space, 9, o->id, o->x);
    if (!o->told && below(p, 4) > 0)
        tell(p, o->id, o->x, how);
    o->told = true;
    if (below(p, 4) > 0)
        end(p, i, 1 + (int)below(p, 4));
}

/* The twin becomes one that was loaded with what the tuner saves. */
static void
reload(struct pair *p)
{
    struct buf state, again;
    struct err err = {0};
    struct unpack in;

    buf_init(&state, 1 << 24);
    buf_init(&again, 1 << 24);
    if (tuner_save(p->tuner, &state, &err) == 1) {
        tuner_free(p->twin);
        p->twin = open_tuner(p);
        in = unpack_from(state.data, state.len);
        if (tuner_load(p->twin, &in, &err) != 0)
            printf("# %s\n", err.text);
        CHECK_STR(err.text, "");
        CHECK(unpack_done(&in));
        CHECK_EQ(tuner_save(p->twin, &again, &err), 1);
        CHECK_EQ(again.len, state.len);
        CHECK(memcmp(again.data, state.data, state.len) == 0);
    }
    buf_fini(&state);
    buf_fini(&again);
}

/* The tuner alone: it must not feel it. */
static void
score(struct pair *p)
{
    const double *points[3] = {p->x, p->y, p->x};
    struct err err = {0};
    double out[3];

    if (tuner_plugin(p->tuner)->tuner.score == NULL)
        return;
    space_sample(p->space, 8, below(p, 1 << 20), p->x);
    space_sample(p->space, 8, below(p, 1 << 20), p->y);
    CHECK_EQ(tuner_score(p->tuner, points, 3, out, &err), 0);
    CHECK(out[0] == out[2] || (isnan(out[0]) && isnan(out[2])));
}

static void
step(struct pair *p)
{
    uint64_t dice = below(p, 16);

    if (tuner_advises(p->tuner) && p->n_out > 0 && below(p, 2) == 0)
        metric(p);
    else if (dice < 5 && p->n_out < OUT_MAX)
        ask(p, p->next_id);
    else if (dice < 7 && p->n_out > 0 && !p->out[p->n_out - 1].told &&
             p->out[p->n_out - 1].id + 1 == p->next_id)
        ask(p, p->next_id - 1); /* a filter did not like the answer */
    else if (dice < 14 && p->n_out > 0)
        finish(p, (size_t)below(p, p->n_out));
    else if (dice == 14) {
        space_sample(p->space, 8, below(p, 1 << 20), p->x);
        tell(p, TP_NO_ID, p->x, TP_RESULT_IMPORTED);
    } else if (dice == 15 && below(p, 4) == 0)
        reload(p);
    else if (dice == 15)
        score(p);
}

static bool
run_session(struct pair *p, int steps)
{
    size_t n = space_dims(p->space)->n_dims;

    p->n_dims = n;
    p->tuner = open_tuner(p);
    if (p->tuner == NULL)
        return false;
    p->takes_several = tuner_plugin(p->tuner)->tuner.objectives != NULL;
    p->twin = open_tuner(p);
    p->x = calloc((OUT_MAX + 2) * (n + 1), sizeof *p->x);
    p->y = p->x + n + 1;
    for (size_t i = 0; i < OUT_MAX; i++)
        p->out[i].x = p->x + (i + 2) * (n + 1);
    for (int i = 0; i < steps; i++)
        step(p);
    reload(p);
    for (int i = 0; i < 3 && p->n_out < OUT_MAX; i++)
        ask(p, p->next_id);
    tuner_free(p->tuner);
    tuner_free(p->twin);
    free(p->x);
    return true;
}

/* For which there is no place in a choice without its name. */
static bool
gives_budgets(const char *name)
{
    return strcmp(name, "asha") == 0 || strcmp(name, "bohb") == 0 ||
           strcmp(name, "hyperband") == 0;
}

/* In every space, and again with several objectives where it takes them; how
 * many spaces it takes. */
static size_t
run_tuner(const char *name)
{
    struct plugin_paths *paths = plugin_paths_new(t_build("plugins"), NULL);
    struct objectives *two;
    struct spaces spaces;
    struct err err = {0};
    size_t n = 0;

    two = objectives_read("{\"objectives\": [{\"name\": \"a\", \"direction\": "
                          "\"minimize\"}, {\"name\": \"b\", \"direction\": "
                          "\"maximize\"}], \"resultConstraints\": "
                          "[\"b <= 4\"]}",
                          &err);
    CHECK_STR(err.text, "");

    CHECK(spaces_init(&spaces, NULL) == 0);
    for (size_t i = 0; i < spaces.n; i++) {
        bool is_large = space_dims(spaces.at[i].space)->n_dims > 100;
        struct pair p = {.paths = paths,
                         .name = name,
                         .space = spaces.at[i].space,
                         .random = i};

        printf("# %s\n", spaces.at[i].title);
        n += run_session(&p, is_large ? 20 : STEPS);
        if (!p.takes_several)
            continue;
        p = (struct pair){.paths = paths,
                          .name = name,
                          .space = spaces.at[i].space,
                          .objectives = two,
                          .random = i};
        printf("# %s, two objectives\n", spaces.at[i].title);
        run_session(&p, is_large ? 20 : STEPS);
    }
    objectives_free(two);
    CHECK(n == spaces.n || strcmp(name, "batch") == 0 ||
          strcmp(name, "grid") == 0 ||
          (n + 1 == spaces.n && gives_budgets(name)));
    CHECK(n > 0);
    plugin_paths_free(paths);
    spaces_fini(&spaces);
    return n;
}

static void
wrap(struct tuner *t, const struct plugin_paths *paths, const char *filter,
     const char *args)
{
    struct json *doc = help_json(args);
    struct err err = {0};

    tuner_wrap(t, paths, filter, json_root(doc), NULL, &err);
    CHECK_STR(err.text, "");
    json_free(doc);
}

static void
finish_all(struct pair *p)
{
    struct tp_result result = {.how = TP_RESULT_FINAL, .value = 0.5};
    struct err err = {0};

    for (size_t i = 0; i < p->n_out; i++) {
        struct out *o = &p->out[i];

        CHECK(tuner_tell(p->tuner, o->id, o->x, &result, &err) == 0);
        CHECK(tuner_ended(p->tuner, o->id, o->x, TP_ENDED_SUCCEEDED, &err) ==
              0);
        free(o->x);
    }
    p->n_out = 0;
}

/* It comes back: with a point, later, at the end, or with a sentence. */
static void
ask_anyhow(struct pair *p)
{
    size_t bytes = p->n_dims * sizeof *p->x;
    struct err err = {0};
    char *label = NULL;
    int rc = tuner_ask(p->tuner, p->next_id, p->x, &label, &err);
    struct out *o = &p->out[p->n_out];

    free(label);
    CHECK(rc == TP_OK || rc == TP_LATER || rc == TP_DONE || rc == TP_ERR);
    CHECK((err.text[0] != '\0') == (rc == TP_ERR));
    p->next_id += rc != TP_LATER;
    if (rc == TP_OK) {
        check_point(p);
        *o = (struct out){.id = p->next_id - 1, .x = malloc(bytes + 1)};
        memcpy(o->x, p->x, bytes);
        p->n_out++;
    }
    if (rc == TP_LATER || p->n_out == OUT_MAX / 2)
        finish_all(p);
}

/* With filters a few asks do: where all points are one, dedup asks a hundred
 * times for each. */
static void
run_anyhow(struct pair *p, bool filtered)
{
    struct json *none = help_json("{}");
    struct err err = {0};

    p->n_dims = space_dims(p->space)->n_dims;
    p->x = calloc(p->n_dims + 1, sizeof *p->x);
    p->tuner = tuner_new(p->paths, p->name, json_root(none), 4, NULL, &err);
    CHECK_STR(err.text, "");
    json_free(none);
    if (filtered) {
        wrap(p->tuner, p->paths, "fallback", "{}");
        wrap(p->tuner, p->paths, "constraints", "{}");
        wrap(p->tuner, p->paths, "dedup", "{}");
    }
    if (tuner_space(p->tuner, p->space, &err) == 0)
        for (int i = 0; i < (filtered ? 16 : 40); i++)
            ask_anyhow(p);
    finish_all(p);
    tuner_free(p->tuner);
    free(p->x);
}

/* Twice: without and with filters. */
static void
run_extremes(const char *name)
{
    struct plugin_paths *paths = plugin_paths_new(t_build("plugins"), NULL);
    struct spaces spaces;

    CHECK(spaces_init_extreme(&spaces, NULL) == 0);
    for (size_t i = 0; i < 2 * spaces.n; i++) {
        struct pair p = {
            .paths = paths, .name = name, .space = spaces.at[i / 2].space};

        printf("# %s\n", spaces.at[i / 2].title);
        run_anyhow(&p, i % 2 == 1);
    }
    plugin_paths_free(paths);
    spaces_fini(&spaces);
}

#define EACH(name)                         \
    TEST(tuner_property_##name)            \
    {                                      \
        CHECK(run_tuner(#name));           \
    }                                      \
    TEST(tuner_property_answers_by_##name) \
    {                                      \
        run_extremes(#name);               \
    }
#define ALL(X)   \
    X(anneal)    \
    X(asha)      \
    X(auto)      \
    X(batch)     \
    X(bohb)      \
    X(cmaes)     \
    X(evolution) \
    X(gp)        \
    X(grid)      \
    X(hyperband) \
    X(nsga2)     \
    X(parego)    \
    X(pbt)       \
    X(pbt_replay) X(qmc) X(random) X(regularized_evolution) X(smac) X(tpe)
#define NAME(name) #name,

ALL(EACH)

/* None is forgotten above.  Those that are programs have no file. */
TEST(tuner_property_names_every_tuner)
{
    static const char *const names[] = {ALL(NAME)};
    struct plugin_paths *paths = plugin_paths_new(t_build("plugins"), NULL);
    struct plugin_list list;
    size_t n = 0;

    CHECK(plugin_paths_list(paths, &list, NULL) == 0);
    for (size_t i = 0; i < list.n; i++) {
        struct plugin *p = plugin_load_file(list.files[i], PLUGIN_TUNER, NULL);

        if (p == NULL)
            continue;
        CHECK(n < sizeof names / sizeof *names);
        CHECK_STR(p->name, names[n++]); /* both sorted */
        plugin_unload(p);
    }
    CHECK_EQ(n, sizeof names / sizeof *names);
    plugin_list_free(&list);
    plugin_paths_free(paths);
}

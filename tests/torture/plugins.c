/* SPDX-License-Identifier: MIT */
/* Every tuner, assessor and filter of the tree as it is loaded, through a
 * short session, saved and loaded again.  A call that fails for lack of memory
 * is followed by the next, as in a dispatcher: a plugin goes on whole. */
#include "report.h"
#include "torture.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/pack.h"
#include "core/problems.h"
#include "objectives/objectives.h"
#include "plugin/assessor.h"
#include "plugin/paths.h"
#include "plugin/tuner.h"
#include "space/space.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIALS 9
#define DIMS_MAX 8
#define STATE_MAX ((size_t)1 << 22)

static const char space_text[] =
    "{\"a\": {\"_type\": \"randint\", \"_value\": [0, 4000]}, "
    "\"net\": {\"_type\": \"choice\", \"_value\": [{\"_name\": \"p\"}, "
    "{\"_name\": \"q\", \"b\": "
    "{\"_type\": \"quniform\", \"_value\": [0, 3, 1]}}]}}";
static const char wider_text[] =
    "{\"a\": {\"_type\": \"randint\", \"_value\": [0, 9000]}, "
    "\"u\": {\"_type\": \"loguniform\", \"_value\": [0.1, 1]}}";
/* For batch. */
static const char whole_text[] =
    "{\"all\": {\"_type\": \"choice\", \"_value\": "
    "[{\"a\": 1}, {\"a\": 2}, {\"a\": 3}, {\"a\": 4}]}}";

static void
file_of(const char *name, char path[PATH_MAX])
{
    const char *build = getenv("TP_BUILD");

    snprintf(path, PATH_MAX, "%s/plugins/%s.so", build == NULL ? "." : build,
             name);
}

/* Loaded for good, so that what runs out of memory is not the loader of
 * shared objects. */
static void
hold(const char *name)
{
    char path[PATH_MAX];

    file_of(name, path);
    if (dlopen(path, RTLD_NOW | RTLD_LOCAL) == NULL)
        fprintf(stderr, "%s\n", dlerror());
}

static struct space *
read_space(const char *text, int is_whole, struct err *err)
{
    struct json *doc = json_parse(text, strlen(text), 0, err);
    struct problems problems;
    struct space *s;

    if (doc == NULL)
        return NULL;
    problems_init(&problems);
    s = space_parse(json_root(doc), &problems);
    if (s == NULL && problems_check(&problems, err) == 0)
        err_set(err, ERR_MEMORY, "out of memory");
    if (s != NULL && is_whole && space_make_whole(s, err) != 0) {
        space_free(s);
        s = NULL;
    }
    problems_fini(&problems);
    json_free(doc);
    return s;
}

/* What went wrong first. */
static void
note(struct err *first, const struct err *err)
{
    if (first->text[0] == '\0' && err->text[0] != '\0')
        *first = *err;
}

static void
tell(struct tuner *t, uint64_t id, const double *x, bool several,
     struct err *first)
{
    struct tp_result result = {.how = id == TP_NO_ID ? TP_RESULT_IMPORTED
                                                     : TP_RESULT_FINAL,
                               .value = (double)(id % 5)};
    const double values[] = {(double)(id % 5), (double)(id % 3)};
    struct err err = {0};

    if (several) {
        result.values = values;
        result.n_values = 2;
        result.violation = id % 4 == 1 ? 0.5 : 0;
    }
    if (tuner_tell(t, id, x, &result, &err) != 0)
        note(first, &err);
}

static void
end(struct tuner *t, uint64_t id, const double *x, int how, struct err *first)
{
    struct err err = {0};

    if (tuner_ended(t, id, x, how, &err) != 0)
        note(first, &err);
}

static void
search(struct tuner *t, uint64_t from, bool several, struct err *first)
{
    double x[DIMS_MAX];

    for (uint64_t id = from; id < from + TRIALS; id++) {
        struct err err = {0};
        char *label = NULL;
        int rc = tuner_ask(t, id, x, &label, &err);

        free(label);
        note(first, &err);
        if (rc != TP_OK)
            continue;
        note(first, torture_report(t, id, x));
        if (id % 5 == 1)
            tell(t, TP_NO_ID, x, several, first);
        if (id % 5 != 2)
            tell(t, id, x, several, first);
        if (id % 5 < 3)
            end(t, id, x, id % 5 == 2 ? TP_ENDED_FAILED : TP_ENDED_SUCCEEDED,
                first);
        else
            end(t, id, x, TP_ENDED_CANCELLED, first);
    }
}

struct job {
    const char *name;
    const char *const *filters; /* with arguments, in turn; NULL: none */
    struct plugin_paths *paths;
    struct space *space, *wider;
    bool several;           /* it is told of two objectives */
    struct objectives *two; /* those, or NULL */
};

static struct tuner *
open_tuner(const struct job *job, struct err *err)
{
    char path[PATH_MAX];
    struct tuner *t;

    file_of(job->name, path);
    t = tuner_new(job->paths, path, (struct jval){NULL}, 4, NULL, err);
    for (size_t i = 0;
         t != NULL && job->filters != NULL && job->filters[i] != NULL; i += 2) {
        const char *text = job->filters[i + 1];
        struct json *args = json_parse(text, strlen(text), 0, err);

        file_of(job->filters[i], path);
        if (args == NULL ||
            tuner_wrap(t, job->paths, path, json_root(args), NULL, err) != 0) {
            tuner_free(t);
            t = NULL;
        }
        json_free(args);
    }
    if (t != NULL &&
        ((job->two != NULL && tuner_objectives(t, job->two, NULL, err) != 0) ||
         tuner_space(t, job->space, err) != 0)) {
        tuner_free(t);
        t = NULL;
    }
    return t;
}

static void
load(const struct job *job, struct buf *state, struct err *first)
{
    struct err err = {0};
    struct tuner *t = open_tuner(job, &err);
    struct unpack in = unpack_from(buf_text(state), state->len);

    if (t != NULL && tuner_load(t, &in, &err) == 0)
        search(t, TRIALS, job->several, &err);
    note(first, &err);
    tuner_free(t);
}

static void
use(const struct job *job, struct tuner *t, struct err *first)
{
    struct err err = {0};
    struct buf state;

    buf_init(&state, STATE_MAX);
    search(t, 0, job->several, first);
    if (tuner_save(t, &state, &err) == 1)
        load(job, &state, first);
    note(first, &err);
    err = (struct err){0};
    if (job->wider != NULL && tuner_space(t, job->wider, &err) != 0)
        note(first, &err);
    search(t, 2 * TRIALS, job->several, first);
    buf_fini(&state);
}

static const char two_text[] =
    "{\"objectives\": [{\"name\": \"a\", \"direction\": \"minimize\"},"
    " {\"name\": \"b\", \"direction\": \"maximize\"}],"
    " \"resultConstraints\": [\"b <= 1\"]}";

static int
run_tuner(const char *name, const char *const *filters, bool several,
          struct err *err)
{
    int is_batch = strcmp(name, "batch") == 0;
    struct job job = {.name = name, .filters = filters, .several = several};
    struct tuner *t = NULL;
    struct err first = {0};

    hold(name);
    job.paths = plugin_paths_new(NULL, &first);
    if (job.paths != NULL)
        job.space =
            read_space(is_batch ? whole_text : space_text, is_batch, &first);
    if (job.space != NULL && !is_batch)
        job.wider = read_space(wider_text, 0, &first);
    if (several)
        job.two = objectives_read(two_text, &first);
    if (job.space != NULL && (is_batch || job.wider != NULL) &&
        (job.two != NULL) == several)
        t = open_tuner(&job, &first);
    if (t != NULL)
        use(&job, t, &first);
    tuner_free(t);
    objectives_free(job.two);
    space_free(job.space);
    space_free(job.wider);
    plugin_paths_free(job.paths);
    *err = first;
    return first.text[0] == '\0' ? 0 : -1;
}

#define TUNERS(X) \
    X(anneal)     \
    X(asha)       \
    X(auto)       \
    X(batch)      \
    X(bohb)       \
    X(cmaes)      \
    X(hyperband)  \
    X(evolution)  \
    X(gp)         \
    X(grid)       \
    X(nsga2)      \
    X(parego)     \
    X(pbt)        \
    X(pbt_replay) X(qmc) X(random) X(regularized_evolution) X(smac) X(tpe)
#define TUNER(name)                                \
    static int tuner_##name(struct err *err)       \
    {                                              \
        return run_tuner(#name, NULL, false, err); \
    }
#define TUNER_CASE(name) {"plugins_tuner_" #name, tuner_##name, 1},

TUNERS(TUNER)

#define SEVERAL(X) X(asha) X(auto) X(gp) X(hyperband) X(nsga2) X(parego) X(tpe)
#define SEVERAL_TUNER(name)                       \
    static int several_##name(struct err *err)    \
    {                                             \
        return run_tuner(#name, NULL, true, err); \
    }
#define SEVERAL_CASE(name) {"plugins_several_" #name, several_##name, 1},

SEVERAL(SEVERAL_TUNER)

static int
filters(struct err *err)
{
    static const char *const stack[] = {
        "constraints", "{\"constraints\": \"a < 3000 and a != 1\"}",
        "dedup",       "{}",
        "fallback",    "{}",
        "timing",      "{}",
        NULL};

    for (size_t i = 0; stack[i] != NULL; i += 2)
        hold(stack[i]);
    return run_tuner("random", stack, false, err);
}

/* ---- assessors ---- */

#define CURVES 3
#define STEPS 12

struct curve {
    double values[STEPS];
    void *slot;
};

static struct tp_history
history_of(struct curve *curves, uint64_t i, size_t n)
{
    return (struct tp_history){.trial = i,
                               .values = curves[i].values,
                               .n = n,
                               .slot = &curves[i].slot};
}

/* Every trial reports up to step n; the first one ends there. */
static void
judge(struct assessor *a, struct curve *curves, size_t n, struct err *first)
{
    for (uint64_t i = 0; i < CURVES; i++) {
        struct tp_history h = history_of(curves, i, n);
        struct tp_verdict verdict;
        struct err err = {0};

        if (assessor_assess(a, &h, &verdict, &err) != 0)
            note(first, &err);
    }
}

static void
finish(struct assessor *a, struct curve *curves, size_t n, struct err *first)
{
    for (uint64_t i = 0; i < CURVES; i++) {
        struct tp_history h = history_of(curves, i, n);
        struct err err = {0};

        if (assessor_ended(a, &h, TP_TRIAL_SUCCEEDED, &err) != 0)
            note(first, &err);
        curves[i].slot = NULL;
    }
}

static struct assessor *
open_assessor(const char *name, struct err *err)
{
    struct plugin_paths *paths = plugin_paths_new(NULL, err);
    struct assessor *a = NULL;
    char path[PATH_MAX];

    file_of(name, path);
    if (paths != NULL)
        a = assessor_new(paths, path, (struct jval){NULL}, 4, NULL, err);
    plugin_paths_free(paths);
    return a;
}

static void
save_and_load(const char *name, struct assessor *a, struct curve *curves,
              struct err *first)
{
    struct curve others[CURVES];
    struct tp_history histories[2 * CURVES];
    const struct tp_history *living[2 * CURVES];
    struct assessor *b;
    struct err err = {0};
    struct unpack in;
    struct buf state;

    memcpy(others, curves, sizeof others);
    for (size_t i = 0; i < 2 * CURVES; i++) {
        histories[i] = history_of(i < CURVES ? curves : others, i % CURVES, 8);
        living[i] = &histories[i];
        if (i >= CURVES)
            others[i % CURVES].slot = NULL;
    }
    buf_init(&state, STATE_MAX);
    b = open_assessor(name, &err);
    if (b != NULL && assessor_save(a, living, CURVES, &state, &err) == 1) {
        in = unpack_from(buf_text(&state), state.len);
        if (assessor_load(b, living + CURVES, CURVES, &in, &err) == 0) {
            judge(b, others, 9, &err);
            finish(b, others, 9, &err);
        }
    }
    note(first, &err);
    assessor_free(b);
    buf_fini(&state);
}

static int
run_assessor(const char *name, struct err *err)
{
    struct curve curves[CURVES];
    struct assessor *a;

    hold(name);
    for (size_t i = 0; i < CURVES; i++) {
        curves[i].slot = NULL;
        for (size_t k = 0; k < STEPS; k++)
            curves[i].values[k] = 1 - 1.0 / (double)(i + k + 2);
    }
    *err = (struct err){0};
    a = open_assessor(name, err);
    if (a == NULL)
        return -1;
    for (size_t n = 1; n <= 8; n++)
        judge(a, curves, n, err);
    save_and_load(name, a, curves, err);
    finish(a, curves, 8, err);
    for (size_t n = 1; n <= 8; n++) /* trials that come later */
        judge(a, curves, n, err);
    finish(a, curves, 8, err);
    assessor_free(a);
    return err->text[0] == '\0' ? 0 : -1;
}

#define ASSESSORS(X) \
    X(auto_assessor) \
    X(curvefitting)  \
    X(medianstop) X(patience) X(percentile) X(threshold) X(wilcoxon)
#define ASSESSOR(name)                          \
    static int assessor_##name(struct err *err) \
    {                                           \
        return run_assessor(#name, err);        \
    }
#define ASSESSOR_CASE(name) {"plugins_assessor_" #name, assessor_##name, 1},

ASSESSORS(ASSESSOR)

const struct torture_case torture_plugins[] = {
    TUNERS(TUNER_CASE) SEVERAL(SEVERAL_CASE)
        ASSESSORS(ASSESSOR_CASE){"plugins_filters", filters, 1},
    {NULL, NULL, 0},
};

/* SPDX-License-Identifier: MIT */
/* Saved states, damaged: a plugin that loads one says no in one line, or goes
 * on, and does nothing then that a plugin may not do.
 *
 * The first byte chooses the plugin, the second how much it has seen when it
 * is saved; each four bytes behind them damage the state: two say where, one
 * how, one is what is put there.  (A log's snapshots have a checksum: a state
 * that is damaged in use was damaged on purpose.) */
#include "fuzz.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/log.h"
#include "core/pack.h"
#include "core/problems.h"
#include "fuzz_paths.h"
#include "json.h"
#include "objectives/objectives.h"
#include "plugin/assessor.h"
#include "plugin/tuner.h"
#include "space/space.h"
#include "tunepipe/assessor.h"
#include "tunepipe/tuner.h"

#include <string.h>

enum { DIMS = 6, SEEN_MAX = 48, AFTER = 12, TRIALS = 3, STEPS = 16 };

static const char text_of_space[] =
    "{\"q\": {\"_type\": \"quniform\", \"_value\": [0, 8, 1]},"
    " \"lr\": {\"_type\": \"loguniform\", \"_value\": [0.0001, 1]},"
    " \"n\": {\"_type\": \"randint\", \"_value\": [1, 9]},"
    " \"net\": {\"_type\": \"choice\", \"_value\": [{\"_name\": \"a\"},"
    "  {\"_name\": \"b\", \"u\": {\"_type\": \"uniform\", \"_value\": [0.001, 1]},"
    "   \"z\": {\"_type\": \"normal\", \"_value\": [0, 1]}}]}}";

static const struct {
    const char *name, *filter;
    bool assesses;
} plugins[] = {
    {"random", "dedup", false},
    {"grid", NULL, false},
    {"tpe", NULL, false},
    {"anneal", NULL, false},
    {"evolution", NULL, false},
    {"regularized_evolution", NULL, false},
    {"cmaes", NULL, false},
    {"qmc", NULL, false},
    {"hyperband", NULL, false},
    {"bohb", NULL, false},
    {"auto", NULL, false},
    {"tpe", "fallback", false},
    {"asha", NULL, false},
    {"pbt", NULL, false},
    {"medianstop", NULL, true},
    {"curvefitting", NULL, true},
    {"patience", NULL, true},
    {"percentile", NULL, true},
    {"threshold", NULL, true},
    {"wilcoxon", NULL, true},
    {"gp", NULL, false},
    {"smac", NULL, false},
    {"auto_assessor", NULL, true},
    /* from SEVERAL on: told of two objectives and a limit */
    {"parego", NULL, false},
    {"nsga2", NULL, false},
    {"tpe", NULL, false},
    {"auto", NULL, false},
    {"asha", NULL, false},
    {"hyperband", NULL, false},
    {"gp", NULL, false},
};

#define SEVERAL 23

static const char text_of_objectives[] =
    "{\"objectives\": [{\"name\": \"a\", \"direction\": \"minimize\"},"
    " {\"name\": \"b\", \"direction\": \"maximize\"}],"
    " \"resultConstraints\": [\"b <= 5\"]}";

static const struct log silent = {.fd = -1, .name = "tunepipe"};
static const struct jval no_args;

static struct space *
space_new(void)
{
    struct json *doc =
        json_parse(text_of_space, strlen(text_of_space), JSON_STRICT, NULL);
    struct problems problems;
    struct space *s;

    problems_init(&problems);
    s = space_parse(json_root(doc), &problems);
    MUST(s != NULL && space_dims(s)->n_dims == DIMS);
    problems_fini(&problems);
    json_free(doc);
    return s;
}

static void
damage(struct buf *state, const uint8_t *data, size_t size)
{
    for (; size >= 4 && state->len > 0; data += 4, size -= 4) {
        size_t at = (data[0] | (size_t)data[1] << 8) % state->len;

        switch (data[2] % 4) {
        case 0:
            state->data[at] = (char)data[3];
            break;
        case 1:
            state->data[at] = (char)(state->data[at] ^ 1 << data[3] % 8);
            break;
        case 2: /* a whole number */
            memset(state->data + at, data[3],
                   state->len - at < 8 ? state->len - at : 8);
            break;
        case 3:
            state->len = at;
            break;
        }
    }
}

static void
check_refusal(const struct err *err)
{
    MUST(err->code == ERR_PLUGIN && err->text[0] != '\0');
    MUST(strchr(err->text, '\n') == NULL);
}

/* ---- tuners ---- */

static struct tuner *
tuner_open(const struct plugin_paths *paths, size_t which,
           const struct space *space, const struct objectives *two)
{
    struct err err;
    struct tuner *t =
        tuner_new(paths, plugins[which].name, no_args, 5, &silent, &err);

    MUST(t != NULL);
    if (plugins[which].filter != NULL)
        MUST(tuner_wrap(t, paths, plugins[which].filter, no_args, &silent,
                        &err) == 0);
    if (which >= SEVERAL)
        MUST(tuner_objectives(t, two, NULL, &err) == 0);
    MUST(tuner_space(t, space, &err) == 0);
    return t;
}

/* Where there are two objectives; others do not look at it. */
static void
set_values(uint64_t id, double values[2], double *violation)
{
    values[0] = (double)(id * 7 % 11);
    values[1] = (double)(id * 5 % 7);
    *violation = values[1] > 5 ? (values[1] - 5) / 5 : 0;
}

static void
report(struct tuner *t, uint64_t id, const double *x, bool several)
{
    uint64_t about;
    int decision;

    for (uint64_t step = 0; tuner_advises(t) && step < id % 4; step++) {
        struct tp_metric metric = {.value = (double)(id % 7), .step = step};
        double values[2];
        struct tp_verdict verdict;
        struct err err;

        set_values(id + step, values, &metric.violation);
        if (several) {
            metric.values = values;
            metric.n_values = 2;
        }
        (void)tuner_metric(t, id, x, &metric, &verdict, &err);
        MUST(verdict.decision >= TP_GO && verdict.decision <= TP_FINISH);
    }
    while (tuner_next_decision(t, &about, &decision))
        MUST(decision >= TP_STOP && decision <= TP_RELEASE);
}

/* Whatever it answers: what it asks for has passed space_check(). */
static void
tuner_use(struct tuner *t, uint64_t from, uint64_t to, bool several)
{
    struct tp_result result = {.how = TP_RESULT_FINAL};
    struct err err;
    double x[DIMS], values[2];
    char *label;

    for (uint64_t id = from; id < to; id++) {
        label = NULL;
        if (tuner_ask(t, id, x, &label, &err) != TP_OK)
            continue;
        free(label);
        result.value = (double)(id * 7 % 11);
        report(t, id, x, several);
        if (several) {
            set_values(id, values, &result.violation);
            result.values = values;
            result.n_values = 2;
        }
        if (id % 5 != 0)
            (void)tuner_tell(t, id, x, &result, &err);
        if (id % 3 != 0)
            (void)tuner_ended(t, id, x, TP_ENDED_SUCCEEDED, &err);
    }
}

static void
play_tuner(const struct plugin_paths *paths, size_t which, uint64_t seen,
           const uint8_t *data, size_t size)
{
    struct space *space = space_new();
    struct objectives *two = objectives_read(text_of_objectives, NULL);
    struct tuner *t = tuner_open(paths, which, space, two);
    bool several = which >= SEVERAL;
    struct unpack from;
    struct buf state;
    struct err err;

    buf_init(&state, (size_t)1 << 24);
    tuner_use(t, 0, seen, several);
    MUST(tuner_save(t, &state, &err) == 1);
    tuner_free(t);
    damage(&state, data, size);
    t = tuner_open(paths, which, space, two);
    from = unpack_from(state.data, state.len);
    if (tuner_load(t, &from, &err) == 0)
        tuner_use(t, seen, seen + AFTER, several);
    else
        check_refusal(&err);
    tuner_free(t);
    objectives_free(two);
    space_free(space);
    buf_fini(&state);
}

/* ---- assessors ---- */

struct trials {
    struct tp_history history[TRIALS];
    double values[TRIALS][STEPS];
    void *slots[TRIALS];
};

static void
trials_begin(struct trials *trials)
{
    *trials = (struct trials){0};
    for (uint64_t k = 0; k < TRIALS; k++)
        trials->history[k] = (struct tp_history){
            sizeof(struct tp_history), k, 0,
            trials->values[k],         0, &trials->slots[k]};
}

/* `steps` reports, by turns. */
static void
assessor_use(struct assessor *a, struct trials *trials, uint64_t steps)
{
    struct tp_verdict verdict;
    struct err err;

    for (uint64_t i = 0; i < steps; i++) {
        struct tp_history *h = &trials->history[i % TRIALS];

        if (h->n == STEPS)
            continue;
        trials->values[i % TRIALS][h->n] = (double)(i * 7 % 13) / 13;
        h->n++;
        (void)assessor_assess(a, h, &verdict, &err);
    }
}

static void
end_all(struct assessor *a, struct trials *trials)
{
    struct err err;

    for (size_t k = 0; k < TRIALS; k++)
        (void)assessor_ended(a, &trials->history[k], TP_ENDED_SUCCEEDED, &err);
}

static void
play_assessor(const struct plugin_paths *paths, size_t which, uint64_t seen,
              const uint8_t *data, size_t size)
{
    const struct tp_history *living[TRIALS];
    struct trials trials, again;
    struct assessor *a;
    struct unpack from;
    struct buf state;
    struct err err;

    if (seen < TRIALS)
        seen = TRIALS; /* the living have reported */
    a = assessor_new(paths, plugins[which].name, no_args, 5, &silent, &err);
    MUST(a != NULL);
    trials_begin(&trials);
    trials_begin(&again);
    assessor_use(a, &trials, seen);
    for (size_t k = 0; k < TRIALS; k++)
        living[k] = &trials.history[k];
    buf_init(&state, (size_t)1 << 24);
    MUST(assessor_save(a, living, TRIALS, &state, &err) == 1);
    end_all(a, &trials);
    assessor_free(a);
    damage(&state, data, size);
    memcpy(again.values, trials.values, sizeof again.values);
    for (size_t k = 0; k < TRIALS; k++) {
        again.history[k].n = trials.history[k].n;
        living[k] = &again.history[k];
    }
    a = assessor_new(paths, plugins[which].name, no_args, 5, &silent, &err);
    MUST(a != NULL);
    from = unpack_from(state.data, state.len);
    if (assessor_load(a, living, TRIALS, &from, &err) == 0) {
        assessor_use(a, &again, AFTER);
        end_all(a, &again);
    } else {
        check_refusal(&err);
    }
    assessor_free(a);
    buf_fini(&state);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plugin_paths *paths;
    size_t which;

    if (size < 2)
        return 0;
    which = data[0] % (sizeof plugins / sizeof *plugins);
    paths = fuzz_paths_open();
    if (plugins[which].assesses)
        play_assessor(paths, which, data[1] % SEEN_MAX, data + 2, size - 2);
    else
        play_tuner(paths, which, data[1] % SEEN_MAX, data + 2, size - 2);
    plugin_paths_free(paths);
    return 0;
}

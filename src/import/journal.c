/* SPDX-License-Identifier: MIT */
/* Optuna's journal: a line of JSON for each operation, which many processes
 * append to.  Trials and studies are numbered in the order of the operations
 * that make them; one that names what is not there, or a trial that has
 * finished, has no effect. */
#include "core/grow.h"
#include "import/import.h"
#include "import/optuna.h"

#include "core/err.h"
#include "json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum state { RUNNING, COMPLETE, PRUNED, FAIL, WAITING, STATES };
static const char *const state_names[STATES] = {"RUNNING", "COMPLETE", "PRUNED",
                                                "FAIL", "WAITING"};

struct study {
    char *name;
    uint64_t n_objectives;
    enum import_way directions[IMPORT_VALUES_MAX]; /* of later ones: not known
                                                    */
    bool deleted;
    uint64_t n_trials;
};

struct trial {
    size_t study;
    uint64_t number, state;
    double value; /* of the objective that is asked for, or of all */
    double values[IMPORT_VALUES_MAX];
    bool bad; /* it has been left out and counted */
    struct buf parameters;
};

struct journal {
    struct import *im;
    struct study *studies;
    struct trial *trials;
    size_t n_studies, n_trials;
};

static bool
get_u64(struct jval root, const char *key, uint64_t *out)
{
    struct jval v;

    return jval_get(root, key, &v) && jval_uint(v, out);
}

static const char *
get_text(struct jval root, const char *key)
{
    const char *text = NULL;
    struct jval v;

    if (jval_get(root, key, &v))
        jval_string(v, &text, NULL);
    return text;
}

/* One without them keeps its number, and has nothing to be imported. */
static bool
set_directions(struct study *s, struct jval root)
{
    static const enum import_way ways[] = {IMPORT_UNSAID, IMPORT_MINIMIZE,
                                           IMPORT_MAXIMIZE};
    struct jval list;
    uint64_t way;

    if (!jval_get(root, "directions", &list) || jval_type(list) != JSON_ARRAY)
        return false;
    s->n_objectives = jval_count(list);
    for (size_t i = 0; i < s->n_objectives && i < IMPORT_VALUES_MAX; i++)
        if (jval_uint(jval_at(list, i), &way) && way < 3)
            s->directions[i] = ways[way];
    return s->n_objectives > 0;
}

static bool
create_study(struct journal *j, struct jval root)
{
    const char *name = get_text(root, "study_name");
    struct study study = {.n_objectives = 0};

    if (name == NULL)
        return false;
    for (size_t i = 0; i < j->n_studies; i++)
        if (!j->studies[i].deleted && strcmp(j->studies[i].name, name) == 0)
            return true; /* it is there: whoever wrote this was told so */
    if (grow_to(&j->studies, j->n_studies + 1, sizeof study) != 0)
        return false;
    study.name = strdup(name);
    if (study.name == NULL)
        return false;
    j->studies[j->n_studies++] = study;
    return set_directions(&j->studies[j->n_studies - 1], root);
}

static bool
delete_study(struct journal *j, struct jval root)
{
    uint64_t id;

    if (!get_u64(root, "study_id", &id))
        return false;
    if (id < j->n_studies)
        j->studies[id].deleted = true;
    return true;
}

static void
add_parameter(struct journal *j, struct trial *t, const char *name,
              double internal, const char *distribution)
{
    if (!t->bad && distribution != NULL)
        t->bad =
            !optuna_add(j->im, &t->parameters, name, internal, distribution);
}

/* A trial that was made elsewhere comes whole. */
static void
add_parameters(struct journal *j, struct trial *t, struct jval root)
{
    struct jval list, distributions = {NULL};
    struct jval_iter it;
    double internal;

    if (!jval_get(root, "params", &list))
        return;
    jval_get(root, "distributions", &distributions);
    for (it = jval_iter(list); jval_next(&it);)
        if (jval_number(it.value, &internal) && distributions.node != NULL)
            add_parameter(j, t, it.key, internal,
                          get_text(distributions, it.key));
}

static void
set_values(struct journal *j, struct trial *t, struct jval root)
{
    const struct study *s = &j->studies[t->study];
    int at = optuna_objective(j->im, s->n_objectives);
    struct jval v;

    if (jval_get(root, "values", &v) && jval_type(v) == JSON_ARRAY) {
        if (at >= 0 && (size_t)at < jval_count(v))
            jval_number(jval_at(v, (size_t)at), &t->value);
        for (size_t i = 0; i < jval_count(v) && i < IMPORT_VALUES_MAX; i++)
            jval_number(jval_at(v, i), &t->values[i]);
    } else if (jval_get(root, "value", &v)) {
        jval_number(v, &t->value);
    }
}

static bool
create_trial(struct journal *j, struct jval root)
{
    struct trial *t;
    uint64_t study;

    if (!get_u64(root, "study_id", &study))
        return false;
    if (study >= j->n_studies || j->studies[study].deleted)
        return true;
    if (grow_to(&j->trials, j->n_trials + 1, sizeof *t) != 0)
        return false;
    t = &j->trials[j->n_trials++];
    *t = (struct trial){.study = study,
                        .number = j->studies[study].n_trials++,
                        .state = RUNNING,
                        .value = (double)NAN};
    for (size_t i = 0; i < IMPORT_VALUES_MAX; i++)
        t->values[i] = (double)NAN;
    buf_init(&t->parameters, IMPORT_TEXT_MAX);
    get_u64(root, "state", &t->state);
    add_parameters(j, t, root);
    set_values(j, t, root);
    return true;
}

/* NULL: none that can still change. */
static struct trial *
find_open(struct journal *j, struct jval root)
{
    struct trial *t;
    uint64_t id;

    if (!get_u64(root, "trial_id", &id) || id >= j->n_trials)
        return NULL;
    t = &j->trials[id];
    return t->state == RUNNING || t->state == WAITING ? t : NULL;
}

static bool
set_param(struct journal *j, struct jval root)
{
    const char *name = get_text(root, "param_name");
    const char *distribution = get_text(root, "distribution");
    struct trial *t = find_open(j, root);
    double internal;
    struct jval v;

    if (name == NULL || distribution == NULL ||
        !jval_get(root, "param_value_internal", &v) ||
        !jval_number(v, &internal))
        return false;
    if (t != NULL)
        add_parameter(j, t, name, internal, distribution);
    return true;
}

static bool
set_state(struct journal *j, struct jval root)
{
    struct trial *t = find_open(j, root);
    uint64_t state;

    if (!get_u64(root, "state", &state))
        return false;
    if (t == NULL)
        return true;
    t->state = state;
    set_values(j, t, root);
    return true;
}

static bool
skip(struct journal *j, struct jval root)
{
    (void)j;
    (void)root;
    return true;
}

/* By op_code. */
static bool (*const operations[])(struct journal *j, struct jval root) = {
    create_study, delete_study, skip, skip, create_trial,
    set_param,    set_state,    skip, skip, skip,
};

static void
take_line(struct journal *j, const char *text, size_t len, uint64_t line)
{
    struct json *doc = json_parse(text, len, JSON_NAN, NULL);
    uint64_t op;

    if (doc == NULL)
        import_leave(j->im, "line %llu of the journal, which is no JSON",
                     (unsigned long long)line);
    else if (!get_u64(json_root(doc), "op_code", &op))
        import_leave(j->im, "lines of the journal without an op_code");
    else if (op >= sizeof operations / sizeof *operations)
        import_leave(j->im, "operations %llu, which are not known",
                     (unsigned long long)op);
    else if (!operations[op](j, json_root(doc)))
        import_leave(j->im, "operations %llu without what they need",
                     (unsigned long long)op);
    json_free(doc);
}

static void
take_trial(struct journal *j, struct trial *t)
{
    const struct study *s = &j->studies[t->study];
    int at = optuna_objective(j->im, s->n_objectives);
    char name[200];

    if (t->bad)
        return;
    if (t->state >= STATES)
        import_leave(j->im, "state %llu, which is not known",
                     (unsigned long long)t->state);
    else if (t->state != COMPLETE)
        import_leave(j->im, "%s", state_names[t->state]);
    else if (at < 0)
        import_leave(j->im, "%llu objectives: --value 0 or above names one",
                     (unsigned long long)s->n_objectives);
    else {
        enum import_way way =
            at < IMPORT_VALUES_MAX ? s->directions[at] : IMPORT_UNSAID;

        snprintf(name, sizeof name, "%.100s, trial %llu", s->name,
                 (unsigned long long)t->number);
        import_take(j->im,
                    &(struct import_trial){
                        .parameters = &t->parameters,
                        .value = t->value,
                        .way = way,
                        .name = name,
                        .n_values = at == OPTUNA_ALL ? s->n_objectives : 0,
                        .values = t->values,
                        .ways = s->directions});
    }
}

/* The study that is asked for, or the only one. */
static int
find_study(const struct journal *j, size_t *out, struct err *err)
{
    const char *wanted = j->im->options->study;
    size_t n = 0;

    for (size_t i = 0; i < j->n_studies; i++) {
        if (j->studies[i].deleted ||
            (wanted != NULL && strcmp(wanted, j->studies[i].name) != 0))
            continue;
        *out = i;
        n++;
    }
    if (n == 1)
        return 0;
    return optuna_no_study(j->im, n, err);
}

static int
take_trials(struct journal *j, struct err *err)
{
    size_t study = 0;

    if (find_study(j, &study, err) != 0)
        return -1;
    for (size_t i = 0; i < j->n_trials; i++)
        if (j->trials[i].study == study)
            take_trial(j, &j->trials[i]);
    return 0;
}

int
import_optuna_journal(struct import *im, const char *text, struct err *err)
{
    struct journal j = {.im = im};
    uint64_t line = 0;
    int rc;

    while (*text != '\0') {
        size_t len = strcspn(text, "\n");

        line++;
        if (len > 0)
            take_line(&j, text, len, line);
        text += len + (text[len] == '\n');
    }
    rc = take_trials(&j, err);
    for (size_t i = 0; i < j.n_trials; i++)
        buf_fini(&j.trials[i].parameters);
    for (size_t i = 0; i < j.n_studies; i++)
        free(j.studies[i].name);
    free(j.trials);
    free(j.studies);
    return rc == 0 ? 0 : err_place(err, "%s", im->source);
}

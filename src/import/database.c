/* SPDX-License-Identifier: MIT */
/* The databases of NNI and of Optuna, told apart by their tables. */
#include "import/import.h"
#include "import/optuna.h"

#include "command.h"
#include "core/err.h"
#include "json.h"
#include "store/sqlite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct database {
    struct import *im;
    const struct sql *sql;
    struct sql_db *db;
    struct err *err;
};

/* A query that begins with what it is given; NULL: err is set. */
static struct sql_query *
ask(const struct database *d, const char *text)
{
    return d->sql->prepare(d->db, text, d->err);
}

/* 1: it is there; 0: it is not; -1. */
static int
has_table(const struct database *d, const char *name)
{
    struct sql_query *q =
        ask(d, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = "
               "?1");
    int rc;

    if (q == NULL)
        return -1;
    d->sql->bind_text(q, 1, name, strlen(name));
    rc = d->sql->step(q, d->err);
    d->sql->finish(q);
    return rc;
}

/* Which way the tuner of the last revision went. */
static enum import_way
nni_way(const struct database *d)
{
    struct sql_query *q = ask(d, "SELECT params FROM ExperimentProfile ORDER "
                                 "BY revision DESC LIMIT 1");
    enum import_way way = IMPORT_UNSAID;
    struct json *doc = NULL;
    const char *mode = "";
    struct jval v;
    size_t len;

    if (q != NULL && d->sql->step(q, NULL) == 1) {
        const char *text = d->sql->text(q, 0, &len);

        doc = json_parse(text, len, JSON_NAN, NULL);
    }
    if (doc != NULL &&
        (jval_get(json_root(doc), "tuner", &v) ||
         jval_get(json_root(doc), "advisor", &v)) &&
        jval_get(v, "classArgs", &v) && jval_get(v, "optimize_mode", &v))
        jval_string(v, &mode, NULL);
    if (strcmp(mode, "minimize") == 0)
        way = IMPORT_MINIMIZE;
    if (strcmp(mode, "maximize") == 0)
        way = IMPORT_MAXIMIZE;
    json_free(doc);
    if (q != NULL)
        d->sql->finish(q);
    return way;
}

/* The column is JSON of the reported value, which is a text that holds JSON. */
static bool
nni_value(const char *text, size_t len, double *out)
{
    struct json *doc = json_parse(text, len, JSON_NAN, NULL);
    const char *problem;
    bool done = doc != NULL && metric_read_value(json_root(doc), out, &problem);

    json_free(doc);
    return done;
}

/* Appends the members of the trial's parameters. */
static bool
nni_parameters(const char *text, size_t len, struct buf *out)
{
    struct json *doc = json_parse(text, len, JSON_STRICT, NULL);
    struct jval parameters;
    struct jval_iter it;
    bool done = doc != NULL &&
                jval_get(json_root(doc), "parameters", &parameters) &&
                jval_type(parameters) == JSON_OBJECT;

    if (done)
        for (it = jval_iter(parameters); jval_next(&it);) {
            import_name(out, it.key);
            jval_write(it.value, out);
        }
    json_free(doc);
    return done;
}

static void
nni_take(const struct database *d, struct sql_query *q, enum import_way way)
{
    size_t id_len, end_len, len, value_len;
    const char *id = d->sql->text(q, 0, &id_len);
    const char *end = d->sql->text(q, 1, &end_len);
    const char *text = d->sql->text(q, 2, &len);
    const char *value = d->sql->text(q, 3, &value_len);
    struct import_trial t = {.way = way};
    struct buf parameters;
    char name[80];

    buf_init(&parameters, IMPORT_TEXT_MAX);
    if (strcmp(end, "SUCCEEDED") != 0) {
        import_leave(d->im, "%.60s", end_len > 0 ? end : "no state");
    } else if (value_len == 0) {
        import_leave(d->im, "no final result");
    } else if (!nni_value(value, value_len, &t.value)) {
        import_leave(d->im, "its value is no number");
    } else if (!nni_parameters(text, len, &parameters)) {
        import_leave(d->im, "no parameters");
    } else {
        snprintf(name, sizeof name, "trial %.60s", id);
        t.name = name;
        t.parameters = &parameters;
        import_take(d->im, &t);
    }
    buf_fini(&parameters);
}

/* The plus in the query keeps SQLite from NNI's index of types, by which it
 * would look through all final results for each trial. */
static int
import_nni(const struct database *d)
{
    static const char query[] =
        "SELECT j.id, (SELECT event FROM TrialJobEvent WHERE trialJobId = j.id "
        "AND event NOT IN ('ADD_CUSTOMIZED', 'ADD_HYPERPARAMETER', "
        "'ADD_RESUMED', 'IMPORT_DATA') ORDER BY rowid DESC LIMIT 1), "
        "(SELECT data FROM TrialJobEvent WHERE trialJobId = j.id AND data IS "
        "NOT NULL ORDER BY rowid LIMIT 1), "
        "(SELECT data FROM MetricData WHERE trialJobId = j.id AND +type = "
        "'FINAL' ORDER BY rowid LIMIT 1) "
        "FROM (SELECT trialJobId AS id, min(rowid) AS first FROM TrialJobEvent "
        "WHERE trialJobId <> '' GROUP BY trialJobId ORDER BY first) AS j";
    enum import_way way = nni_way(d);
    struct sql_query *q = ask(d, query);
    int rc = q == NULL ? -1 : 1;

    while (rc == 1 && (rc = d->sql->step(q, d->err)) == 1)
        nni_take(d, q, way);
    if (q != NULL)
        d->sql->finish(q);
    return rc;
}

/* Parameters of one trial; false: one of them is listed as unknown. */
static bool
optuna_parameters(const struct database *d, int64_t trial, struct buf *out)
{
    struct sql_query *q = ask(d, "SELECT param_name, param_value, "
                                 "distribution_json FROM trial_params WHERE "
                                 "trial_id = ?1 ORDER BY param_id");
    int rc = q == NULL ? -1 : 1;
    bool done = true;
    size_t len;

    if (q != NULL)
        d->sql->bind_int(q, 1, trial);
    while (rc == 1 && done && (rc = d->sql->step(q, NULL)) == 1)
        done = optuna_add(d->im, out, d->sql->text(q, 0, &len),
                          d->sql->real(q, 1), d->sql->text(q, 2, &len));
    if (q != NULL)
        d->sql->finish(q);
    if (rc < 0)
        import_leave(d->im, "its parameters cannot be read");
    return rc >= 0 && done;
}

static double
optuna_value(const struct database *d, int64_t trial, int objective)
{
    struct sql_query *q = ask(d, "SELECT value FROM trial_values WHERE "
                                 "trial_id = ?1 AND objective = ?2");
    double value = (double)NAN;

    if (q == NULL)
        return value;
    d->sql->bind_int(q, 1, trial);
    d->sql->bind_int(q, 2, objective);
    if (d->sql->step(q, NULL) == 1 && d->sql->type(q, 0) != SQL_NULL)
        value = d->sql->real(q, 0);
    d->sql->finish(q);
    return value;
}

struct study {
    int64_t id;
    char name[160];
    uint64_t n_objectives;
    enum import_way ways[IMPORT_VALUES_MAX]; /* of later ones: not known */
};

/* The study that is asked for, or the only one. */
static int
find_study(const struct database *d, struct study *s)
{
    const char *wanted = d->im->options->study;
    struct sql_query *q = ask(d, "SELECT study_id, study_name FROM studies "
                                 "WHERE ?1 IS NULL OR study_name = ?1");
    size_t n = 0, len;
    int rc = -1;

    if (q == NULL)
        return -1;
    if (wanted != NULL)
        d->sql->bind_text(q, 1, wanted, strlen(wanted));
    else
        d->sql->bind_null(q, 1);
    while ((rc = d->sql->step(q, d->err)) == 1) {
        s->id = d->sql->integer(q, 0);
        snprintf(s->name, sizeof s->name, "%.150s", d->sql->text(q, 1, &len));
        n++;
    }
    d->sql->finish(q);
    return rc < 0 || n == 1 ? rc : optuna_no_study(d->im, n, d->err);
}

static int
read_ways(const struct database *d, struct study *s)
{
    struct sql_query *q =
        ask(d, "SELECT direction FROM study_directions WHERE study_id = ?1 "
               "ORDER BY objective");
    size_t len;
    int rc;

    if (q == NULL)
        return -1;
    d->sql->bind_int(q, 1, s->id);
    for (s->n_objectives = 0; (rc = d->sql->step(q, d->err)) == 1;
         s->n_objectives++) {
        const char *way = d->sql->text(q, 0, &len);

        if (s->n_objectives >= IMPORT_VALUES_MAX)
            continue;
        if (strcmp(way, "MINIMIZE") == 0)
            s->ways[s->n_objectives] = IMPORT_MINIMIZE;
        if (strcmp(way, "MAXIMIZE") == 0)
            s->ways[s->n_objectives] = IMPORT_MAXIMIZE;
    }
    d->sql->finish(q);
    return rc;
}

static void
optuna_take(const struct database *d, const struct study *s,
            struct sql_query *q)
{
    int objective = optuna_objective(d->im, s->n_objectives);
    int64_t id = d->sql->integer(q, 0), number = d->sql->integer(q, 1);
    size_t len;
    const char *state = d->sql->text(q, 2, &len);
    double values[IMPORT_VALUES_MAX];
    struct buf parameters;
    struct import_trial t;
    char name[200];

    if (strcmp(state, "COMPLETE") != 0) {
        import_leave(d->im, "%.60s", state);
        return;
    }
    if (objective < 0) {
        import_leave(d->im, "%llu objectives: --value 0 or above names one",
                     (unsigned long long)s->n_objectives);
        return;
    }
    buf_init(&parameters, IMPORT_TEXT_MAX);
    if (optuna_parameters(d, id, &parameters)) {
        snprintf(name, sizeof name, "%s, trial %lld", s->name,
                 (long long)number);
        t = (struct import_trial){.parameters = &parameters,
                                  .name = name,
                                  .values = values,
                                  .ways = s->ways};
        if (objective == OPTUNA_ALL)
            for (; t.n_values < s->n_objectives; t.n_values++)
                values[t.n_values] = optuna_value(d, id, (int)t.n_values);
        else
            t.value = optuna_value(d, id, objective);
        if (objective < IMPORT_VALUES_MAX)
            t.way = s->ways[objective];
        import_take(d->im, &t);
    }
    buf_fini(&parameters);
}

static int
import_optuna(const struct database *d)
{
    struct study s = {.n_objectives = 0};
    struct sql_query *q;
    int rc;

    if (has_table(d, "study_directions") != 1)
        return err_set(
            d->err, ERR_INPUT,
            "has no table study_directions: it was made by an Optuna "
            "before 2.4; `optuna storage upgrade` makes it newer");
    if (find_study(d, &s) != 0 || read_ways(d, &s) != 0)
        return -1;
    q = ask(d, "SELECT trial_id, number, state FROM trials WHERE study_id = ?1 "
               "ORDER BY number");
    if (q == NULL)
        return -1;
    d->sql->bind_int(q, 1, s.id);
    while ((rc = d->sql->step(q, d->err)) == 1)
        optuna_take(d, &s, q);
    d->sql->finish(q);
    return rc;
}

int
import_database(struct import *im, const char *path, struct err *err)
{
    struct database d = {.im = im, .err = err};
    int nni, optuna, rc = -1;

    d.sql = im->options->sql(err);
    if (d.sql == NULL || (d.db = d.sql->open(path, SQL_READ, err)) == NULL)
        return -1;
    nni = has_table(&d, "TrialJobEvent");
    optuna = nni < 0 ? -1 : has_table(&d, "studies");
    if (nni == 1)
        rc = import_nni(&d);
    else if (optuna == 1)
        rc = import_optuna(&d);
    else if (optuna == 0)
        err_set(err, ERR_INPUT,
                "has neither the tables of NNI (TrialJobEvent) nor of Optuna "
                "(studies)");
    d.sql->close(d.db);
    return rc == 0 ? 0 : err_place(err, "%s", path);
}

/* SPDX-License-Identifier: MIT */
#include "dispatcher/trials.h"

#include "core/idset.h"
#include "core/map.h"
#include "core/pack.h"

#include <stdlib.h>
#include <string.h>

struct trials {
    struct map by_id;
    struct map by_label;
    struct idset finished;
    struct trial *oldest, *newest; /* ended without a result */
    size_t n_resultless, n_out;
    bool labelled; /* trials with labels were added, of which nothing stays when
                      they are finished */
};

struct trials *
trials_new(void)
{
    return calloc(1, sizeof(struct trials));
}

static void
trial_free(struct trial *trial)
{
    if (trial == NULL)
        return;
    free(trial->label);
    free(trial->x);
    free(trial->parameters);
    free(trial);
}

void
trials_free(struct trials *t)
{
    struct trial *trial;
    size_t at = 0;

    if (t == NULL)
        return;
    while ((trial = map_next(&t->by_id, &at)) != NULL)
        trial_free(trial);
    map_fini(&t->by_id);
    map_fini(&t->by_label);
    idset_fini(&t->finished);
    free(t);
}

int
trial_move(struct trial *trial, const double *x, size_t n_dims)
{
    double *copy = malloc(n_dims * sizeof *x + 1);

    if (copy == NULL)
        return -1;
    memcpy(copy, x, n_dims * sizeof *x);
    free(trial->x);
    trial->x = copy;
    trial->n_dims = n_dims;
    return 0;
}

struct trial *
trials_add(struct trials *t, uint64_t id, const char *label, const double *x,
           size_t n_dims)
{
    struct trial *trial;

    if (map_get(&t->by_id, &id, sizeof id) != NULL ||
        (label != NULL && map_get(&t->by_label, label, strlen(label)) != NULL))
        return NULL;
    trial = calloc(1, sizeof *trial);
    if (trial == NULL)
        return NULL;
    trial->id = id;
    if ((label != NULL && (trial->label = strdup(label)) == NULL) ||
        trial_move(trial, x, n_dims) != 0 ||
        map_put(&t->by_id, &id, sizeof id, trial) != 0)
        goto fail;
    if (label != NULL &&
        map_put(&t->by_label, label, strlen(label), trial) != 0) {
        map_remove(&t->by_id, &id, sizeof id);
        goto fail;
    }
    t->labelled = t->labelled || label != NULL;
    t->n_out++;
    return trial;
fail:
    trial_free(trial);
    return NULL;
}

struct trial *
trials_find(struct trials *t, const struct parameter_id *id)
{
    switch (id->kind) {
    case PARAMETER_NUMBER:
        return map_get(&t->by_id, &id->number, sizeof id->number);
    case PARAMETER_LABEL:
        return map_get(&t->by_label, id->label, strlen(id->label));
    case PARAMETER_NONE:
        break;
    }
    return NULL;
}

bool
trials_finished(const struct trials *t, const struct parameter_id *id)
{
    return id->kind == PARAMETER_NUMBER && idset_has(&t->finished, id->number);
}

/* Whether a trial of that id or label may have been given out, and be
 * finished. */
static bool
may_be_finished(const struct trials *t, const struct parameter_id *id)
{
    return id->kind == PARAMETER_LABEL ? t->labelled : trials_finished(t, id);
}

const char *
trials_refuse_result(struct trials *t, const struct parameter_id *id,
                     struct trial **out, bool *late)
{
    *out = trials_find(t, id);
    *late = *out == NULL && may_be_finished(t, id);
    if (*late)
        return "a result after the end of a trial that has one";
    if (*out == NULL)
        return "a result for a trial that was never given out";
    return (*out)->result_told ? "a second final result, not applied" : NULL;
}

const char *
trials_refuse_end(struct trials *t, const struct parameter_id *id,
                  struct trial **out, bool *late)
{
    *out = trials_find(t, id);
    *late = *out == NULL ? may_be_finished(t, id) : (*out)->ended;
    if (*late)
        return "the trial has ended already";
    return *out == NULL ? "the end of a trial that was never given out" : NULL;
}

static void
unlink_resultless(struct trials *t, struct trial *trial)
{
    if (trial->older != NULL)
        trial->older->newer = trial->newer;
    else
        t->oldest = trial->newer;
    if (trial->newer != NULL)
        trial->newer->older = trial->older;
    else
        t->newest = trial->older;
    t->n_resultless--;
}

static void
drop_trial(struct trials *t, struct trial *trial)
{
    map_remove(&t->by_id, &trial->id, sizeof trial->id);
    if (trial->label != NULL)
        map_remove(&t->by_label, trial->label, strlen(trial->label));
    trial_free(trial);
}

static void
link_resultless(struct trials *t, struct trial *trial)
{
    struct trial *oldest = t->oldest;

    trial->older = t->newest;
    if (t->newest != NULL)
        t->newest->newer = trial;
    else
        t->oldest = trial;
    t->newest = trial;
    t->n_resultless++;
    if (t->n_resultless > RESULTLESS_MAX) {
        unlink_resultless(t, oldest);
        idset_add(&t->finished, oldest->id);
        drop_trial(t, oldest);
    }
}

void
trials_settle(struct trials *t, struct trial *trial)
{
    bool resultless = trial == t->newest || trial->newer != NULL;

    if (!trial->ended)
        return;
    if (!resultless) {
        t->n_out--;
        if (!trial->result_told) {
            link_resultless(t, trial);
            return;
        }
    } else if (trial->result_told) {
        unlink_resultless(t, trial);
    } else {
        return;
    }
    idset_add(&t->finished, trial->id);
    drop_trial(t, trial);
}

uint64_t
trials_n_finished(const struct trials *t)
{
    return idset_count(&t->finished);
}

size_t
trials_out(const struct trials *t)
{
    return t->n_out;
}

int
trials_rename(struct trials *t, struct trial *trial, uint64_t id)
{
    if (map_put(&t->by_id, &id, sizeof id, trial) != 0)
        return -1;
    map_remove(&t->by_id, &trial->id, sizeof trial->id);
    trial->id = id;
    return 0;
}

struct trial **
trials_sorted(const struct trials *t, size_t *n)
{
    return map_by_number(&t->by_id, offsetof(struct trial, id), n);
}

struct trial **
trials_unended(const struct trials *t, size_t *n)
{
    struct trial **all = trials_sorted(t, n);
    size_t kept = 0;

    for (size_t i = 0; all != NULL && i < *n; i++)
        if (!all[i]->ended)
            all[kept++] = all[i];
    *n = kept;
    return all;
}

/* ---- packed: the trials by their ids, then those without a result in the
 * order of their ends ---- */

static void
save_one(const struct trial *trial, struct buf *out)
{
    pack_u64(out, trial->id);
    pack_text(out, trial->label);
    pack_u64(out, trial->result_told);
    pack_u64(out, trial->ended);
    pack_u64(out, trial->foreign);
    pack_u64(out, trial->unfit);
    pack_u64(out, trial->n_dims);
    pack_f64s(out, trial->x, trial->n_dims);
    pack_u64(out, trial->tuner_id);
    pack_text(out, trial->parameters);
}

void
trials_save(const struct trials *t, struct buf *out)
{
    size_t n;
    struct trial **sorted = trials_sorted(t, &n);

    idset_save(&t->finished, out);
    pack_u64(out, n);
    for (size_t i = 0; i < n; i++)
        save_one(sorted[i], out);
    pack_u64(out, t->n_resultless);
    for (struct trial *trial = t->oldest; trial != NULL; trial = trial->newer)
        pack_u64(out, trial->id);
    out->failed = out->failed || sorted == NULL;
    free(sorted);
}

static double *
load_point(struct unpack *in, size_t *n_dims)
{
    size_t n = unpack_count(in, sizeof(double));
    double *x = malloc(n * sizeof *x + 1);

    if (x == NULL)
        unpack_fail(in);
    else
        unpack_f64s(in, x, n);
    *n_dims = n;
    return x;
}

/* Adds one loaded trial; trials_add() refuses a second one of the same id. */
static void
load_one(struct trials *t, struct unpack *in)
{
    uint64_t id = unpack_u64(in);
    const char *label = unpack_text(in), *parameters;
    bool told = unpack_bool(in), ended = unpack_bool(in);
    uint64_t foreign = unpack_u64(in);
    bool unfit = unpack_bool(in);
    size_t n_dims;
    double *x = load_point(in, &n_dims);
    uint64_t theirs = unpack_u64(in);
    struct trial *trial = NULL;

    parameters = unpack_text(in);
    if (!in->failed && !(told && ended) && foreign <= TRIAL_CUSTOM)
        trial = trials_add(t, id, label, x, n_dims);
    free(x);
    if (trial == NULL || (parameters != NULL &&
                          (trial->parameters = strdup(parameters)) == NULL)) {
        unpack_fail(in);
        return;
    }
    t->n_out -= ended;
    trial->result_told = told;
    trial->ended = ended;
    trial->foreign = (enum trial_source)foreign;
    trial->unfit = unfit;
    trial->tuner_id = theirs;
}

int
trials_load(struct trials *t, struct unpack *in)
{
    size_t n, n_resultless;

    idset_load(&t->finished, in);
    n = unpack_count(in, 9 * sizeof(uint64_t));
    for (size_t i = 0; i < n && !in->failed; i++)
        load_one(t, in);
    n_resultless = unpack_count(in, sizeof(uint64_t));
    if (n_resultless != n - t->n_out || n_resultless > RESULTLESS_MAX)
        unpack_fail(in);
    for (size_t i = 0; i < n_resultless && !in->failed; i++) {
        uint64_t id = unpack_u64(in);
        struct trial *trial = map_get(&t->by_id, &id, sizeof id);

        if (trial == NULL || !trial->ended || trial == t->newest ||
            trial->newer != NULL)
            unpack_fail(in);
        else
            link_resultless(t, trial);
    }
    return in->failed ? -1 : 0;
}

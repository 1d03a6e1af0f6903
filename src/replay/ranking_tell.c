/* SPDX-License-Identifier: MIT */
/* What the other tuner is told, and asked before. */
#include "replay/ranking_state.h"

#include "command.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/problems.h"
#include "plugin/loader.h"
#include "plugin/tuner.h"
#include "space/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Samples of their own: no trial has such an id. */
#define DRAW_BASE ((uint64_t)1 << 62)
#define REDRAWS 100

/* ---- the space ---- */

/* A huge sigma may give what is no point. */
static void
sample(const struct space *space, uint64_t seed, uint64_t draw, double *x)
{
    for (int i = 0; i < REDRAWS; i++) {
        space_sample(space, seed, draw + (uint64_t)i * RANKING_SAMPLES, x);
        if (space_check(space, x, NULL) == 0)
            return;
    }
}

/* Room for points of the space. */
static int
make_room(struct ranking_walk *w, const struct space *space, struct err *err)
{
    size_t n = space_dims(space)->n_dims;
    double *x = calloc(n + 1, sizeof *x), *y = calloc(n + 1, sizeof *y);
    double *samples = calloc(RANKING_SAMPLES * n + 1, sizeof *samples);

    free(w->x);
    free(w->y);
    free(w->samples);
    w->x = x;
    w->y = y;
    w->samples = samples;
    if (x == NULL || y == NULL || samples == NULL)
        return ranking_no_memory(err);
    for (size_t i = 0; i < RANKING_SAMPLES; i++) {
        w->points[i] = samples + i * n;
        sample(space, w->seed, DRAW_BASE + i, samples + i * n);
    }
    return 0;
}

/* One that was refused when it was recorded is passed over. */
int
ranking_space(struct ranking_walk *w, const struct command *cmd,
              struct err *err)
{
    struct problems problems;
    struct space *space;

    if ((cmd->code == CMD_INITIALIZE) == (w->space != NULL))
        return 0;
    problems_init(&problems);
    space = space_parse(json_root(cmd->space), &problems);
    problems_fini(&problems);
    if (space == NULL)
        return 0;
    if (tuner_plugin(w->tuner)->tuner.flags & TP_TUNER_WHOLE)
        space_make_whole(space, NULL);
    if (make_room(w, space, err) != 0 ||
        tuner_space(w->tuner, space, err) != 0) {
        space_free(space);
        return -1;
    }
    space_free(w->space);
    w->space = space;
    return 0;
}

/* ---- ranks ---- */

static int
encode(struct ranking_walk *w, const struct ranking_trial *t, double *x)
{
    struct json *doc =
        json_parse(t->parameters, strlen(t->parameters), JSON_NAN, NULL);
    int rc = doc == NULL ? -1 : space_encode(w->space, json_root(doc), x, NULL);

    json_free(doc);
    return rc == 0 ? space_check(w->space, x, NULL) : -1;
}

static double
rank_of(const double *scores, double score)
{
    size_t n = 0;
    double below = 0;

    for (size_t i = 0; i < RANKING_SAMPLES; i++) {
        n += !isnan(scores[i]);
        below += scores[i] < score ? 1 : scores[i] == score ? 0.5 : 0;
    }
    return n == 0 || isnan(score) ? NAN : below / (double)n;
}

static int
rank(struct ranking_walk *w, const double *x, double *out, struct err *err)
{
    w->points[RANKING_SAMPLES] = x;
    if (tuner_score(w->tuner, w->points, RANKING_SAMPLES + 1, w->scores, err) !=
        0)
        return -1;
    *out = rank_of(w->scores, w->scores[RANKING_SAMPLES]);
    return 0;
}

/* From when on the best trial would have been preferred, up to its result. */
static int
follow_best(struct ranking_walk *w, struct err *err)
{
    struct ranking *out = w->out;
    double rank_now;

    if (w->best == 0 || w->best_is_told ||
        encode(w, &out->trials[w->best - 1], w->y) != 0)
        return 0;
    if (rank(w, w->y, &rank_now, err) != 0)
        return -1;
    if (!(rank_now >= RANKING_TOP))
        out->preferred = false;
    else if (!out->preferred) {
        out->preferred = true;
        out->since = out->told;
    }
    return 0;
}

/* ---- results ---- */

static int
suggest(struct ranking_walk *w, struct ranking_trial *t, struct err *err)
{
    struct buf text;
    char *label;
    int rc = tuner_ask(w->tuner, w->asked++, w->y, &label, err);

    free(label);
    if (rc < 0)
        return -1;
    if (rc != TP_OK)
        return 0;
    buf_init(&text, SIZE_MAX / 2);
    space_decode(w->space, w->y, &text);
    t->own = buf_take(&text);
    buf_fini(&text);
    if (t->own == NULL)
        return ranking_no_memory(err);
    /* It is never run. */
    return tuner_ended(w->tuner, w->asked - 1, w->y, TP_ENDED_CANCELLED, err);
}

static int
tell(struct ranking_walk *w, const double *x, double value, struct err *err)
{
    struct tp_result result = {._struct_size = sizeof result,
                               .how = TP_RESULT_IMPORTED,
                               .value = value};

    return tuner_tell(w->tuner, TP_NO_ID, x, &result, err);
}

int
ranking_result(struct ranking_walk *w, struct ranking_trial *t, struct err *err)
{
    struct ranking *out = w->out;
    bool is_best = w->best == (size_t)(t - out->trials) + 1;
    int rc;

    t->known = out->told;
    t->unfit =
        w->space == NULL || t->parameters == NULL || encode(w, t, w->x) != 0;
    out->unfit += t->unfit;
    if (t->unfit)
        return 0;
    if (out->can_rank)
        rc = rank(w, w->x, &t->rank, err) != 0 ? -1 : follow_best(w, err);
    else
        rc = suggest(w, t, err);
    if (rc != 0)
        return -1;
    w->best_is_told = w->best_is_told || is_best;
    out->told++;
    return tell(w, w->x, t->final, err);
}

/* As tuning_import() takes them; what it refused is passed over. */
int
ranking_import(struct ranking_walk *w, const struct command *cmd,
               struct err *err)
{
    struct jval list = json_root(cmd->document), parameters, v;
    const char *problem;
    double value;

    for (size_t i = 0; w->space != NULL && i < jval_count(list); i++) {
        struct jval entry = jval_at(list, i);

        if (!jval_get(entry, "parameter", &parameters) ||
            !jval_get(entry, "value", &v) ||
            !metric_read_value(v, &value, &problem) ||
            space_encode(w->space, parameters, w->x, NULL) != 0)
            continue;
        if (tell(w, w->x, value, err) != 0)
            return -1;
        w->out->imported++;
    }
    return 0;
}

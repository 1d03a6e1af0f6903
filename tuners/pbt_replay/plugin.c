/* SPDX-License-Identifier: MIT */
/* The tuner `pbt_replay`: line.h behind the plugin interface. */
#include "pbt/folder.h"
#include "pbt_replay/line.h"
#include "pbt_replay/points.h"
#include "pbt_replay/schedule.h"
#include "tunepipe/shell.h"
#include "tunepipe/tuner.h"

#include <stdlib.h>
#include <string.h>

struct shell {
    const struct tp_host *host;
    const struct tp_space *space;
    struct schedule schedule;
    double *x; /* n_dims for each segment */
    struct schedule_line line;
    uint64_t max_budget;
    const char *root; /* of the folders; NULL: none are named */
};

enum { MODE, SCHEDULE, ROOT, BUDGET, SEED, N_ARGS };

static const struct tp_arg args[N_ARGS] = {
    [MODE] = TP_MODE("maximize", "accepted and not looked at"),
    [SCHEDULE] =
        TP_STRING("schedule", "0:",
                  "\"0: lr=0.1 act=#2; 10: lr=0.2 act=#0\": parameters from "
                  "so many results on, as `tunepipe export --schedule` has it"),
    [ROOT] = TP_STRING_OR_NULL(
        "all_checkpoint_dir",
        "folder of load_checkpoint_dir and save_checkpoint_dir; null: "
        "the experiment's"),
    [BUDGET] =
        TP_INT("max_budget", 0, 0, 1e15,
               "what the line gets in all, in intermediate results; 0: no "
               "end"),
    [SEED] = TP_SEED("of what no segment names"),
};

static void *
create(const struct tp_host *host)
{
    return tp_new(host, sizeof(struct shell));
}

static void
destroy(void *vself)
{
    struct shell *self = vself;

    schedule_free(&self->schedule);
    free(self->x);
    free(self);
}

static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct shell *self = vself;
    char why[SCHEDULE_WHY_MAX];

    (void)n;
    self->root = tp_text_or_null(&values[ROOT]);
    if (folder_check(self->host, self->root) != TP_OK)
        return TP_ERR;
    self->max_budget = (uint64_t)values[BUDGET].integer;
    if (schedule_parse(&self->schedule, values[SCHEDULE].text, why) != 0)
        return tp_error(self->host, "%s", why);
    return TP_OK;
}

static int
space(void *vself, const struct tp_space *s)
{
    struct shell *self = vself;
    size_t n = self->schedule.n_segments * s->n_dims;
    double *x = malloc((n + 1) * sizeof *x);
    char why[SCHEDULE_WHY_MAX];

    if (x == NULL)
        return tp_out_of_memory(self->host);
    if (points_place(&self->schedule, self->host, s, x, why) != 0) {
        free(x);
        return tp_error(self->host, "%s", why);
    }
    free(self->x);
    self->x = x;
    self->space = s;
    line_begin(&self->line);
    return TP_OK;
}

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct shell *self = vself;
    const struct schedule_line *l = &self->line;
    const struct tp_host *host = self->host;
    size_t n_dims = self->space->n_dims;
    uint64_t begins;

    switch (line_ask(&self->line, &self->schedule, id)) {
    case LINE_LATER:
        return TP_LATER;
    case LINE_OVER:
        return TP_DONE;
    case LINE_POINT:
        break;
    }
    if (n_dims > 0)
        memcpy(out->x, self->x + l->segment * n_dims, n_dims * sizeof *out->x);
    out->budget = (double)line_budget(l, &self->schedule, self->max_budget);
    begins = l->from != LINE_NO_ID ? l->from_turn : l->turn;
    if (l->from != LINE_NO_ID) {
        out->from = l->from;
        out->from_how = TP_CLONED;
    }
    folder_both(host, self->root, (const uint64_t[2]){0, begins},
                (const uint64_t[2]){0, l->turn});
    tp_explain(host, "segment %llu of %zu, from result %llu on",
               (unsigned long long)l->segment + 1, self->schedule.n_segments,
               (unsigned long long)self->schedule.segments[l->segment].from);
    return TP_OK;
}

static int
metric(void *vself, uint64_t id, const double *x,
       const struct tp_metric *metric, struct tp_verdict *out)
{
    static const int decisions[] = {
        [LINE_GO] = TP_GO, [LINE_PAUSE] = TP_PAUSE, [LINE_FINISH] = TP_FINISH};
    struct shell *self = vself;

    (void)x;
    out->decision = decisions[line_metric(
        &self->line, &self->schedule, self->max_budget, id, metric->step + 1)];
    return TP_OK;
}

static int
ended(void *vself, uint64_t id, const double *x, int how)
{
    struct shell *self = vself;
    bool well = how == TP_ENDED_SUCCEEDED || how == TP_ENDED_PAUSED;
    uint64_t done = line_ended(&self->line, id, well);

    (void)x;
    if (done != LINE_NO_ID)
        tp_decide(self->host, done, TP_RELEASE);
    return TP_OK;
}

static int
save(void *vself, const struct tp_sink *sink)
{
    const struct shell *self = vself;
    const struct schedule_line *l = &self->line;
    const uint64_t numbers[] = {l->segment, l->id,        l->from,
                                l->turn,    l->from_turn, l->verdict};

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        tp_put_u64(sink, numbers[i]);
    return TP_OK;
}

static int
load(void *vself, const struct tp_source *source)
{
    struct shell *self = vself;
    struct schedule_line *l = &self->line;
    uint64_t verdict = 0;
    uint64_t *const numbers[] = {&l->segment, &l->id,        &l->from,
                                 &l->turn,    &l->from_turn, &verdict};

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (tp_get_u64(source, numbers[i]) != TP_OK)
            return tp_error(self->host, "a saved line is cut off");
    if (l->segment > self->schedule.n_segments || verdict > LINE_FINISH ||
        (l->id != LINE_NO_ID && l->segment == self->schedule.n_segments))
        return tp_error(self->host, "a saved line is none of this schedule");
    l->verdict = (enum line_verdict)verdict;
    return TP_OK;
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    .name = "pbt_replay",
    .doc = "runs a schedule that pbt has found again",
    .version = 1,
    .args = TP_ARGS(args),
    .create = create,
    .destroy = destroy,
    .config = config,
    .space = space,
    .ask = ask,
    .tell = tp_tell_nothing,
    .ended = ended,
    .save = save,
    .load = load,
    .metric = metric,
};
TP_REGISTER_TUNER(tuner)

/* SPDX-License-Identifier: MIT */
#include "torture.h"

#include "core/err.h"
#include "core/pack.h"
#include "dispatcher/series.h"
#include "dispatcher/marks.h"
#include "dispatcher/owed.h"
#include "dispatcher/resend.h"
#include "dispatcher/trials.h"

#include <stdlib.h>
#include <string.h>

/* What a dispatcher knows beside its plugins. */
struct state {
    struct marks *marks;
    struct trials *trials;
    struct series_map *living;
    struct owed owed;
    struct resend resend;
};

static int
begin(struct state *s, struct err *err)
{
    *s = (struct state){.marks = marks_new(),
                        .trials = trials_new(),
                        .living = series_map_new()};
    resend_init(&s->resend);
    if (s->marks == NULL || s->trials == NULL || s->living == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    return 0;
}

static void
end(struct state *s)
{
    if (s->marks != NULL)
        marks_free(s->marks);
    trials_free(s->trials);
    series_map_free(s->living);
    owed_fini(&s->owed);
    resend_fini(&s->resend);
}

static int
report(struct state *s, char *job, const struct parameter_id *id)
{
    const struct metric metric = {
        .job = job, .parameter = *id, .has_value = true, .sequence = 1};
    struct series *series = series_get(s->living, job);

    return marks_metric(s->marks, &metric) != MARKS_COUNTED || series == NULL ||
                   series_enter(series, 1, 0.5) < 0 ||
                   series_enter(series, 0, 0.5) < 0 ||
                   series_enter(series, 5, 0.5) < 0
               ? -1
               : 0;
}

static int
report_and_end(struct state *s)
{
    char a[] = "A", b[] = "B", c[] = "C", label[] = "label";
    const struct parameter_id number = {PARAMETER_NUMBER, 3, NULL};
    const struct parameter_id named = {PARAMETER_LABEL, 0, label};
    struct trial_end end = {.job = b};
    int rc;

    marks_issued(s->marks, 9);
    if (report(s, a, &number) != 0 || report(s, b, &named) != 0 ||
        report(s, c, &named) != 0)
        return -1;
    rc = marks_end(s->marks, &end);
    parameter_clear(&end.parameter);
    return rc;
}

static int
give_out(struct state *s)
{
    static const char text[] = "{\"parameter_id\": \"la\\nbel\"}";
    struct emission e = {.cause = 1,
                         .code = CMD_NEW_TRIAL,
                         .parameter = parameter_named(0, "la\nbel"),
                         .payload = text,
                         .len = sizeof text - 1};
    const double x[] = {1, 2};
    struct trial *trial;

    if (trials_add(s->trials, 7, "label", x, 2) == NULL ||
        (trial = trials_add(s->trials, 8, NULL, x, 1)) == NULL ||
        (trial->parameters = strdup("{}")) == NULL)
        return -1;
    trial->ended = true;
    trials_settle(s->trials, trial);
    resend_written(&s->resend, &e);
    return s->resend.failed || owed_add(&s->owed, 3, 5) != 0 ? -1 : 0;
}

static void
save(const struct state *s, struct buf *out)
{
    marks_save(s->marks, out);
    trials_save(s->trials, out);
    series_save(s->living, out);
    owed_save(&s->owed, out);
    resend_save(&s->resend, out);
}

static int
load(struct state *s, const struct buf *bytes, struct err *err)
{
    struct unpack in = unpack_from(bytes->data, bytes->len);

    if (marks_load(s->marks, &in) != 0 || trials_load(s->trials, &in) != 0 ||
        series_load(s->living, &in) != 0 || owed_load(&s->owed, &in) != 0 ||
        resend_load(&s->resend, &in) != 0 || !unpack_done(&in))
        return err_set(err, ERR_MEMORY, "load: out of memory");
    return 0;
}

/* The same bytes as the one before has. */
static int
load_and_compare(const struct buf *bytes, struct err *err)
{
    struct buf again;
    struct state s;
    int rc = begin(&s, err);

    buf_init(&again, 1 << 16);
    if (rc == 0)
        rc = load(&s, bytes, err);
    if (rc == 0)
        save(&s, &again);
    if (rc == 0)
        rc = buf_check(&again, "saved again", err);
    if (rc == 0 && (again.len != bytes->len ||
                    memcmp(again.data, bytes->data, again.len) != 0))
        rc = err_set(err, ERR_INPUT, "what came back is something else");
    buf_fini(&again);
    end(&s);
    return rc;
}

static int
there_and_back(struct err *err)
{
    struct buf bytes;
    struct state s;
    int rc = begin(&s, err);

    buf_init(&bytes, 1 << 16);
    if (rc == 0 && (report_and_end(&s) != 0 || give_out(&s) != 0))
        rc = err_set(err, ERR_MEMORY, "fill: out of memory");
    if (rc == 0)
        save(&s, &bytes);
    if (rc == 0)
        rc = buf_check(&bytes, "saved", err);
    if (rc == 0)
        rc = load_and_compare(&bytes, err);
    buf_fini(&bytes);
    end(&s);
    return rc;
}

const struct torture_case torture_state[] = {
    {"state_saved_and_loaded", there_and_back, 0},
    {NULL, NULL, 0},
};

/* SPDX-License-Identifier: MIT */
#include "dispatcher/marks.h"

#include "dispatcher_help.h"

#include <math.h>

static enum marks_verdict
report(struct marks *m, const char *job, uint64_t id, uint64_t attempt,
       uint64_t sequence, double value)
{
    struct metric metric = {
        .job = (char *)(uintptr_t)job,
        .parameter = {.kind = PARAMETER_NUMBER, .number = id},
        .type = METRIC_PERIODICAL,
        .attempt = attempt,
        .sequence = sequence,
        .has_value = true,
        .value = value};

    return marks_metric(m, &metric);
}

/* The stamp; its parameter is freed at once. */
static struct trial_end
end_of(struct marks *m, const char *job, enum end_event event, uint64_t hint)
{
    struct trial_end end = {.job = (char *)(uintptr_t)job,
                            .event = event,
                            .hint = {.kind = PARAMETER_NUMBER, .number = hint}};

    CHECK_EQ(marks_end(m, &end), 0);
    free(end.parameter.label);
    end.parameter.label = NULL;
    return end;
}

static struct marks *
new_marks(uint64_t issued)
{
    struct marks *m = marks_new();

    CHECK(m != NULL);
    marks_issued(m, issued);
    return m;
}

TEST(marks_stamp_latest_lowest_and_highest)
{
    struct marks *m = new_marks(9);
    struct trial_end end;

    CHECK_EQ(report(m, "A", 4, 0, 1, 5), MARKS_COUNTED);
    CHECK_EQ(report(m, "A", 4, 0, 0, -2), MARKS_COUNTED);
    CHECK_EQ(report(m, "A", 4, 0, 3, 3), MARKS_COUNTED);
    CHECK_EQ(report(m, "A", 4, 0, 2, 9), MARKS_COUNTED);
    CHECK_EQ(report(m, "A", 4, 0, 2, 100), MARKS_REPEATED);
    CHECK_EQ(report(m, "A", 4, 0, 4, NAN), MARKS_COUNTED);
    CHECK_EQ(help_living(m), 1);
    end = end_of(m, "A", END_SUCCEEDED, 0);
    CHECK_EQ(help_living(m), 0);
    CHECK(end.has_marks && !end.stopped);
    CHECK_EQ(end.parameter.number, 4); /* not the hint's */
    CHECK(end.latest.value == 3 && end.latest.step == 3);
    CHECK(end.lowest.value == -2 && end.lowest.step == 0);
    CHECK(end.highest.value == 9 && end.highest.step == 2);
    marks_free(m);
    marks_free(NULL);
}

TEST(marks_verdicts)
{
    struct marks *m = new_marks(3);

    CHECK_EQ(report(m, "Z", 3, 0, 0, 1), MARKS_UNKNOWN);
    CHECK_EQ(report(m, "A", 2, 0, 0, 1), MARKS_COUNTED);
    CHECK_EQ(report(m, "A", 2, 0, 0, 1), MARKS_REPEATED);
    CHECK_EQ(report(m, "A", 2, 0, 65536, 1), MARKS_COUNTED);
    CHECK_EQ(report(m, "A", 2, 0, 65537, 1), MARKS_TOO_FAR);
    CHECK_EQ(report(m, "A", 2, 0, UINT64_MAX, 1), MARKS_TOO_FAR);
    CHECK_EQ(report(m, "A", 2, 0, 65536, 1), MARKS_REPEATED);
    CHECK_EQ(report(m, "A", 2, 1, 0, 1), MARKS_COUNTED);
    CHECK_EQ(report(m, "A", 2, 0, 1, 1), MARKS_SUPERSEDED);
    end_of(m, "A", END_FAILED, 2);
    CHECK_EQ(report(m, "A", 2, 0, 2, 1), MARKS_ENDED);
    CHECK_EQ(report(m, "A", 2, 2, 0, 1), MARKS_ENDED);
    /* one that never reported is known by its job */
    end_of(m, "B", END_FAILED, 1);
    CHECK_EQ(report(m, "B", 1, 0, 0, 1), MARKS_ENDED);
    CHECK_EQ(report(m, "C", 1, 0, 0, 1), MARKS_COUNTED);
    marks_free(m);
}

/* The ids that NNI 3.0 swaps among trials launched together. */
TEST(marks_believe_the_trials_own_metrics_and_not_the_hint)
{
    struct marks *m = new_marks(2);

    report(m, "A", 0, 0, 0, 1);
    report(m, "B", 1, 0, 0, 1);
    CHECK_EQ(end_of(m, "A", END_SUCCEEDED, 1).parameter.number, 0);
    CHECK_EQ(end_of(m, "B", END_SUCCEEDED, 0).parameter.number, 1);
    CHECK_EQ(end_of(m, "C", END_SUCCEEDED, 7).parameter.number, 7);
    marks_free(m);
}

/* The id that NNI 3.0's manager gives to several trials, see reunion.h. */
TEST(marks_share_a_suggestion_among_jobs)
{
    struct marks *m = new_marks(9);
    struct trial_end end;

    marks_share(m);
    report(m, "B", 0, 0, 0, 1);
    end = end_of(m, "A", END_FAILED, 0); /* B runs it */
    CHECK_EQ(end.parameter.kind, PARAMETER_NONE);
    CHECK_EQ(end.living, 1);
    end = end_of(m, "B", END_SUCCEEDED, 1);
    CHECK_EQ(end.parameter.number, 0);
    CHECK_EQ(end.living, 0);
    CHECK(!end.repeated);
    end = end_of(m, "B", END_SUCCEEDED, 1); /* told twice: 1 has not ended */
    CHECK(end.repeated);
    CHECK_EQ(end.parameter.kind, PARAMETER_NONE);
    CHECK_EQ(report(m, "B", 0, 0, 1, 1), MARKS_ENDED); /* under way then */
    CHECK_EQ(help_living(m), 0);
    /* D runs 0 once more: what it says is of no use, its end is its own */
    CHECK_EQ(report(m, "D", 0, 0, 0, 1), MARKS_ENDED);
    CHECK_EQ(report(m, "D", 0, 0, 1, 1), MARKS_ENDED);
    CHECK_EQ(help_living(m), 1);
    CHECK_EQ(end_of(m, "D", END_SUCCEEDED, 2).parameter.number, 0);
    CHECK_EQ(end_of(m, "E", END_FAILED, 2).parameter.number, 2);
    marks_free(m);
}

TEST(marks_know_that_our_kill_was_written)
{
    struct marks *m = new_marks(5);

    report(m, "A", 0, 0, 0, 1);
    report(m, "B", 1, 0, 0, 1);
    report(m, "C\n", 2, 0, 0, 1);
    marks_killed(m, "A");
    marks_killed(m, "C\n");
    marks_killed(m, "nobody");
    CHECK_EQ(report(m, "A", 0, 1, 0, 1), MARKS_COUNTED);
    CHECK(end_of(m, "A", END_USER_CANCELED, 0).stopped);
    CHECK(!end_of(m, "B", END_USER_CANCELED, 0).stopped);
    CHECK(end_of(m, "C\n", END_SUCCEEDED, 0).stopped);
    CHECK(end_of(m, "D", END_EARLY_STOPPED, 3).stopped);
    marks_free(m);
}

TEST(marks_count_what_was_issued)
{
    struct marks *m = new_marks(0);

    CHECK_EQ(report(m, "A", 0, 0, 0, 1), MARKS_UNKNOWN);
    marks_issued(m, 8);
    marks_issued(m, 3); /* never fewer */
    CHECK_EQ(report(m, "A", 7, 0, 0, 1), MARKS_COUNTED);
    CHECK_EQ(report(m, "B", 8, 0, 0, 1), MARKS_UNKNOWN);
    marks_free(m);
}

/* The marks of an older attempt than the one that ended are not told. */
TEST(marks_of_an_older_attempt_do_not_count)
{
    struct marks *m = new_marks(1);
    char job[] = "A";
    struct trial_end end = {.job = job, .attempt = 2};

    report(m, "A", 0, 1, 0, 5);
    CHECK_EQ(marks_end(m, &end), 0);
    CHECK(!end.has_marks);
    marks_free(m);
}

TEST(marks_of_labels_and_of_the_users_own_trials)
{
    struct marks *m = new_marks(0);
    char job[] = "A", own[] = "U", label[] = "0-3_1";
    struct metric metric = {
        .job = job,
        .parameter = {.kind = PARAMETER_LABEL, .label = label},
        .has_value = true,
        .value = 1};
    struct trial_end end = {.job = job};

    CHECK_EQ(marks_metric(m, &metric), MARKS_COUNTED);
    CHECK_EQ(marks_end(m, &end), 0);
    CHECK_STR(end.parameter.label, "0-3_1");
    free(end.parameter.label);
    CHECK_EQ(marks_metric(m, &metric), MARKS_ENDED);
    metric.job = own;
    metric.parameter = (struct parameter_id){.kind = PARAMETER_NONE};
    CHECK_EQ(marks_final(m, &metric), MARKS_COUNTED);
    end = (struct trial_end){.job = own};
    CHECK_EQ(marks_end(m, &end), 0);
    CHECK_EQ(end.parameter.kind, PARAMETER_NONE);
    CHECK(!end.has_marks);
    marks_free(m);
}

/* ---- against a model that keeps everything ---- */

enum { JOBS = 6, STEPS = 400, ATTEMPTS = 4 };

struct model {
    bool alive, ended;
    uint64_t attempt;
    bool have[STEPS];
    double value[STEPS];
};

static enum marks_verdict
model_report(struct model *t, uint64_t attempt, uint64_t step, double value)
{
    if (t->ended)
        return MARKS_ENDED;
    if (!t->alive) {
        *t = (struct model){.alive = true, .attempt = attempt};
    }
    if (attempt < t->attempt)
        return MARKS_SUPERSEDED;
    if (attempt > t->attempt)
        *t = (struct model){.alive = true, .attempt = attempt};
    if (t->have[step])
        return MARKS_REPEATED;
    t->have[step] = true;
    t->value[step] = value;
    return MARKS_COUNTED;
}

static void
model_check(const struct model *t, const struct trial_end *end)
{
    double lowest = INFINITY, highest = -INFINITY, latest = NAN;

    for (int i = 0; i < STEPS; i++) {
        if (!t->have[i] || isnan(t->value[i]))
            continue;
        latest = t->value[i];
        lowest = latest < lowest ? latest : lowest;
        highest = latest > highest ? latest : highest;
    }
    CHECK_EQ(end->has_marks, !isnan(latest));
    if (!end->has_marks)
        return;
    CHECK(end->latest.value == latest);
    CHECK(end->lowest.value == lowest && end->highest.value == highest);
    CHECK(t->value[end->latest.step] == latest);
    CHECK(t->value[end->lowest.step] == lowest);
    CHECK(t->value[end->highest.step] == highest);
}

TEST(marks_agree_with_a_model)
{
    static struct model model[JOBS];
    uint64_t state = 5;

    for (int round = 0; round < 30; round++) {
        struct marks *m = new_marks(JOBS);
        uint64_t base[JOBS] = {0};

        memset(model, 0, sizeof model);
        for (int i = 0; i < 3000; i++) {
            uint64_t j = help_below(&state, JOBS);
            uint64_t step = base[j]++ / 3 + help_below(&state, 40);
            uint64_t attempt = model[j].attempt;
            char job[2] = {(char)('a' + j), '\0'};
            double value = help_below(&state, 30) == 0
                               ? NAN
                               : (double)help_below(&state, 1000);

            if (help_below(&state, 100) == 0)
                attempt = help_below(&state, ATTEMPTS);
            step = step < STEPS ? step : STEPS - 1;
            if (help_below(&state, 2000) == 0) {
                struct trial_end end = {
                    .job = job,
                    .attempt = model[j].attempt,
                    .hint = {.kind = PARAMETER_NUMBER, .number = j}};

                if (model[j].ended)
                    continue;
                CHECK_EQ(marks_end(m, &end), 0);
                CHECK_EQ(end.parameter.number, j);
                model_check(&model[j], &end);
                model[j].ended = true;
                continue;
            }
            CHECK_EQ(report(m, job, j, attempt, step, value),
                     model_report(&model[j], attempt, step, value));
        }
        marks_free(m);
    }
}

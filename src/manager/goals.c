/* SPDX-License-Identifier: MIT */
#include "manager/goals.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define HOUR_NS 3600e9

void
goals_trial_began(struct goals *f, int64_t started_ns)
{
    f->running++;
    f->started_sum += (uint64_t)started_ns;
}

void
goals_trial_left(struct goals *f, int64_t started_ns)
{
    f->running--;
    f->started_sum -= (uint64_t)started_ns;
}

static bool
is_better(const struct goals *f, double a, double b)
{
    return f->minimize ? a < b : a > b;
}

static void
take_value(struct goals *f, const struct goals_trial *end)
{
    if (!f->has_best || is_better(f, end->value, f->best)) {
        f->has_best = true;
        f->best = end->value;
        f->without = 0;
    }
    if (f->has_stop_value && !f->reached &&
        !is_better(f, f->stop_value, end->value)) {
        f->reached = true;
        f->reached_value = end->value;
        snprintf(f->reached_by, sizeof f->reached_by, "%s", end->trial);
    }
}

/* Whether the goals are about the hypervolume. */
static bool
is_of_volume(const struct goals *f)
{
    return f->of != NULL && f->of->n > 1;
}

static void
take_values(struct goals *f, const struct goals_trial *end)
{
    uint64_t grew;
    double gain;

    f->front.of = f->of;
    f->front.of_any_size = f->has_stop_value;
    grew = f->front.grew;
    gain = pareto_gain(&f->front, end->budget, end->values);
    if (end->budget > f->front.budget)
        f->hypervolume = 0;
    pareto_add(&f->front, end->trial, end->budget, end->values, NULL);
    if (f->front.grew != grew && f->front.grew > 0)
        f->hypervolume += gain;
    if (isnan(f->hypervolume)) /* the front may be small enough again */
        f->hypervolume = pareto_hypervolume(&f->front);
    if (is_of_volume(f) && f->front.grew != grew)
        f->without = 0;
    if (f->reached)
        return;
    f->by_goals = objectives_reached(f->of, end->values);
    if (!f->by_goals && !(is_of_volume(f) && f->has_stop_value &&
                          f->hypervolume >= f->stop_value))
        return;
    f->reached = true;
    f->reached_value = f->hypervolume;
    snprintf(f->reached_by, sizeof f->reached_by, "%s", end->trial);
}

void
goals_fini(struct goals *f)
{
    pareto_fini(&f->front);
}

void
goals_trial_ended(struct goals *f, const struct goals_trial *end)
{
    f->ended_ns += (int64_t)(end->seconds * 1e9);
    if (end->counts)
        f->without++;
    if (f->of != NULL && end->values != NULL)
        take_values(f, end);
    if (end->counts && end->has_value && isfinite(end->value) &&
        !is_of_volume(f) &&
        (end->values == NULL || end->values->violation <= 0))
        take_value(f, end);
}

/* How long all trials have run, those that ended and those that run. */
static double
used_ns(const struct goals *f, int64_t now_ns)
{
    uint64_t running = f->running * (uint64_t)now_ns - f->started_sum;

    return (double)f->ended_ns + (double)(int64_t)running;
}

/* What names each goal in a reason. */
#define STOP_VALUE ", stopValue is "
#define WITHOUT "(maxTrialsWithoutImprovement)"
#define HOURS "(maxTrialHours)"
#define GOALS "(objectives.goal)"

bool
goals_reached(const struct goals *f, int64_t now_ns, char *why, size_t size)
{
    if (f->reached && f->by_goals)
        snprintf(why, size, "finished: trial %s reached each goal " GOALS,
                 f->reached_by);
    else if (f->reached && is_of_volume(f))
        snprintf(why, size,
                 "finished: trial %s made the hypervolume %.10g" STOP_VALUE
                 "%.10g",
                 f->reached_by, f->reached_value, f->stop_value);
    else if (f->reached)
        snprintf(why, size, "finished: trial %s has %.10g" STOP_VALUE "%.10g",
                 f->reached_by, f->reached_value, f->stop_value);
    else if (f->max_without > 0 && f->without >= f->max_without)
        snprintf(why, size,
                 "finished: %llu trials in a row were no better " WITHOUT,
                 (unsigned long long)f->without);
    else if (f->max_hours > 0 && used_ns(f, now_ns) >= f->max_hours * HOUR_NS)
        snprintf(why, size,
                 "finished: trials ran for %.6g hours all together " HOURS,
                 f->max_hours);
    else
        return false;
    return true;
}

bool
goals_named(const char *reason)
{
    return strstr(reason, STOP_VALUE) != NULL ||
           strstr(reason, WITHOUT) != NULL || strstr(reason, HOURS) != NULL ||
           strstr(reason, GOALS) != NULL;
}

int64_t
goals_deadline(const struct goals *f, int64_t now_ns)
{
    double left = f->max_hours * HOUR_NS - used_ns(f, now_ns);

    if (f->max_hours <= 0 || f->running == 0)
        return INT64_MAX;
    left = ceil(left / (double)f->running);
    if (left <= 0)
        return now_ns;
    return left < 9e18 - (double)now_ns ? now_ns + (int64_t)left : INT64_MAX;
}

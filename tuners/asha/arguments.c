/* SPDX-License-Identifier: MIT */
#include "asha/arguments.h"

#include "tunepipe/shell.h"

#define BUDGET_MAX 1e15

const struct tp_arg asha_arguments[N_ARGUMENTS] = {
    [ARG_MODE] = TP_MODE("maximize", "whether larger results are better"),
    [ARG_MIN_BUDGET] = TP_INT("min_budget", 1, 1, BUDGET_MAX,
                              "the first rung, in intermediate results"),
    [ARG_MAX_BUDGET] = TP_INT("max_budget", 27, 1, BUDGET_MAX,
                              "the most a trial gets, in intermediate results"),
    [ARG_ETA] = TP_INT("eta", 3, 2, 1000,
                       "one in so many goes on from a rung to the next"),
    [ARG_BRACKETS] = TP_INT("brackets", 1, 1, ASHA_LEVELS_MAX,
                            "ladders of rungs, each begins one rung higher"),
    [ARG_TYPE] =
        TP_ONE_OF("type", "stopping", "stopping|promotion",
                  "trials are stopped at rungs, or paused there and promoted"),
    [ARG_SEARCHER] =
        TP_ONE_OF("searcher", "tpe", "tpe|random",
                  "where new configurations come from: a model of all results, "
                  "or samples"),
    [ARG_CONFIGURATIONS] = TP_INT("configurations", 0, 0, BUDGET_MAX,
                                  "points that are tried; 0: any number"),
    [ARG_SEED] = TP_SEED("seed of the random numbers"),
};

static int
check(const struct tp_host *host, const struct asha_options *o)
{
    uint64_t levels[ASHA_LEVELS_MAX];
    size_t n;

    if (o->max_budget < o->min_budget)
        return tp_error(host,
                        "min_budget: is %llu, expected at most "
                        "max_budget, which is %llu",
                        (unsigned long long)o->min_budget,
                        (unsigned long long)o->max_budget);
    n = asha_levels(o, levels);
    if (o->brackets <= n)
        return TP_OK;
    return tp_error(host,
                    "brackets: is %zu, expected at most %zu, one for "
                    "each rung from %llu to %llu by %llu",
                    o->brackets, n, (unsigned long long)o->min_budget,
                    (unsigned long long)o->max_budget,
                    (unsigned long long)o->eta);
}

int
asha_options_of(const struct tp_host *host, const struct tp_value *values,
                struct asha_options *out)
{
    *out = (struct asha_options){
        .min_budget = (uint64_t)values[ARG_MIN_BUDGET].integer,
        .max_budget = (uint64_t)values[ARG_MAX_BUDGET].integer,
        .eta = (uint64_t)values[ARG_ETA].integer,
        .brackets = (size_t)values[ARG_BRACKETS].integer,
        .promotes = tp_is(&values[ARG_TYPE], "promotion"),
        .configs = (uint64_t)values[ARG_CONFIGURATIONS].integer,
    };
    return check(host, out);
}

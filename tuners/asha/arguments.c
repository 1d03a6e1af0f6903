/* SPDX-License-Identifier: MIT */
#include "asha/arguments.h"

#include <string.h>

#define BUDGET_MAX 1e15

const struct tp_arg asha_arguments[N_ARGUMENTS] = {
    [ARG_MODE] = {"optimize_mode", TP_ARG_STRING, 0, "\"maximize\"", 0, 0,
                  "maximize|minimize", "whether larger results are better"},
    [ARG_MIN_BUDGET] = {"min_budget", TP_ARG_INT, 0, "1", 1, BUDGET_MAX, NULL,
                        "the first rung, in intermediate results"},
    [ARG_MAX_BUDGET] = {"max_budget", TP_ARG_INT, 0, "27", 1, BUDGET_MAX, NULL,
                        "the most a trial gets, in intermediate results"},
    [ARG_ETA] = {"eta", TP_ARG_INT, 0, "3", 2, 1000, NULL,
                 "one in so many goes on from a rung to the next"},
    [ARG_BRACKETS] = {"brackets", TP_ARG_INT, 0, "1", 1, ASHA_LEVELS_MAX, NULL,
                      "ladders of rungs, each begins one rung higher"},
    [ARG_TYPE] = {"type", TP_ARG_STRING, 0, "\"stopping\"", 0, 0,
                  "stopping|promotion",
                  "trials are stopped at rungs, or paused there and promoted"},
    [ARG_SEARCHER] =
        {"searcher", TP_ARG_STRING, 0, "\"tpe\"", 0, 0, "tpe|random",
         "where new configurations come from: a model of all results, "
         "or samples"},
    [ARG_CONFIGURATIONS] = {"configurations", TP_ARG_INT, 0, "0", 0, BUDGET_MAX,
                            NULL, "points that are tried; 0: any number"},
    [ARG_SEED] = {"seed", TP_ARG_SEED, 1, "null", 0, 0, NULL,
                  "seed of the random numbers; null: the experiment's"},
};

static int
check(const struct tp_host *host, const struct asha_options *o)
{
    uint64_t levels[ASHA_LEVELS_MAX];
    size_t n;

    if (o->max_budget < o->min_budget) {
        host->error(
            host->ctx,
            "min_budget: is %llu, expected at most max_budget, which is "
            "%llu",
            (unsigned long long)o->min_budget,
            (unsigned long long)o->max_budget);
        return TP_ERR;
    }
    n = asha_levels(o, levels);
    if (o->brackets <= n)
        return TP_OK;
    host->error(
        host->ctx,
        "brackets: is %zu, expected at most %zu, one for each rung from "
        "%llu to %llu by %llu",
        o->brackets, n, (unsigned long long)o->min_budget,
        (unsigned long long)o->max_budget, (unsigned long long)o->eta);
    return TP_ERR;
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
        .promotes = strcmp(values[ARG_TYPE].text, "promotion") == 0,
        .configs = (uint64_t)values[ARG_CONFIGURATIONS].integer,
    };
    return check(host, out);
}

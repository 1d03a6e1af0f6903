/* SPDX-License-Identifier: MIT */
/* report.h - intermediate results for a tuner that looks at them. */
#ifndef TESTS_TORTURE_REPORT_H
#define TESTS_TORTURE_REPORT_H

#include "core/err.h"
#include "plugin/tuner.h"

/* What went wrong first, lent until the next call. */
static inline const struct err *
torture_report(struct tuner *t, uint64_t id, const double *x)
{
    static struct err first;
    uint64_t about;
    int decision;

    err_clear(&first);
    for (uint64_t step = 0; tuner_advises(t) && step < id % 5; step++) {
        struct tp_metric metric = {.value = (double)(id % 7), .step = step};
        struct tp_verdict verdict;
        struct err err = {0};

        if (tuner_metric(t, id, x, &metric, &verdict, &err) != 0 &&
            first.text[0] == '\0')
            first = err;
    }
    while (tuner_next_decision(t, &about, &decision))
        continue;
    return &first;
}

#endif

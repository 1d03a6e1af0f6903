/* SPDX-License-Identifier: MIT */
/* choice.h - which of several rules that stop trials early judges them: the one
 * that saves most, of those that would have stopped few of the good.
 *
 * A rule stops a trial whose best value is worse than a percentile of what
 * completed trials had at the step, from a part of the longest trial on; one
 * rule stops nothing.  What a rule would have done is known of trials that ran
 * to the end: of those that no rule in force wanted to stop, and of one in
 * `one_in` that ran on though one did, which therefore counts for as many.  A
 * trial was good if its best value was in the best quarter of all that had
 * completed.  Until there is much evidence a guess counts as some trials.
 *
 * Cost: a judgement O(values of the trial), a completed trial O(rules) for each
 * of its values, besides percentile.h's; memory: that of percentile.h, and 8
 * bytes a completed trial.
 *
 * Knows no plugin interface; one thread at a time. */
#ifndef AUTO_ASSESSOR_CHOICE_H
#define AUTO_ASSESSOR_CHOICE_H

#include "percentile/percentile.h"

#define CHOICE_RULES 13

struct choice_options {
    bool maximize;
    double bound;     /* share of the good that a rule may stop */
    uint64_t startup; /* trials that have to complete before any is judged */
    uint64_t one_in;  /* of so many trials one runs to the end */
};

struct choice_rule {
    double percentile; /* goes on; 100: all */
    size_t part;       /* judged from longest / part on; 0: at once */
};

struct choice {
    struct choice_options options;
    struct percentile *past; /* completed trials */
    double *finals;          /* their best values, ascending */
    size_t n_finals, room;
    uint64_t longest;           /* values of one */
    double seen, good;          /* trials, by what they count for */
    double lost[CHOICE_RULES];  /* of the good */
    double saved[CHOICE_RULES]; /* share of a trial's values, summed up */
};

struct choice_verdict {
    bool stop, is_control; /* is_control: would have been stopped */
    struct choice_rule rule;
    double best, limit; /* NaN: not judged */
    double lost, saved; /* shares, as they are taken to be */
};

/* NULL when out of memory. */
struct choice *choice_new(const struct choice_options *options);
void choice_free(struct choice *c);

/* Trial `trial` has reported values[0..n-1], n > 0. */
void choice_assess(const struct choice *c, uint64_t trial, const double *values,
                   size_t n, struct choice_verdict *out);

/* It has succeeded.  -1 when out of memory: it then does not count. */
int choice_succeeded(struct choice *c, uint64_t trial, const double *values,
                     size_t n);

void choice_save(const struct choice *c, const struct tp_sink *sink);

/* Into a new one.  NULL, or what was wrong; then c may only be freed. */
const char *choice_load(struct choice *c, const struct tp_source *source);

#endif

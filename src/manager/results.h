/* SPDX-License-Identifier: MIT */
/* results.h - what an experiment's folder tells about its trials, read back
 * from its files, whether the experiment runs, has ended or has died.  One
 * owner. */
#ifndef MANAGER_RESULTS_H
#define MANAGER_RESULTS_H

#include "core/idset.h"
#include "manager/pareto.h"
#include "manager/trial.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct json_writer;
struct space;

/* Its texts lie in `texts`, or are somebody else's. */
struct result {
    char *texts; /* owned; NULL: none */
    size_t n_texts;
    const char *trial, *status, *why;
    const char *ended_by;                  /* "itself", "assessor", ... */
    const char *parameter_id, *parameters; /* JSON text */
    uint64_t seed;                         /* the trial's TUNEPIPE_SEED */
    bool has_value, has_latest;
    double value; /* the final result; of several values the first objective's
                   */
    const char *values; /* JSON: numbers by name that were reported beside it,
                           or, where there are objectives, all; of a trial
                           without a final result, those of the last
                           intermediate one; "null": none */
    bool has_violation;
    double violation;  /* how far it is beyond the limits on results */
    double latest;     /* the last intermediate one */
    double duration_s; /* of its last attempt; 0: its run never began */
    bool has_prepare;
    double prepare_s; /* how long prepareCommand ran, not part of duration_s */
    uint64_t intermediates;
    double budget;  /* in intermediate results; 0: none */
    uint64_t steps; /* intermediate results, with those of the trial it went on
                       from */
    const char *place;    /* where it ran; empty: on this machine */
    double queued_s;      /* how long it waited for its machine, not part of
                             duration_s */
    const char *from;     /* the trial it went on from; empty: none */
    const char *from_how; /* "promoted" or "cloned"; empty: none */
    uint64_t at; /* where its line begins in results.jsonl; UINT64_MAX: not
                    there */
};

#define RESULTS_BEST 10
#define RESULTS_TRIAL_MAX \
    100000000 /* the number of a trial; else it is named */
#define RESULTS_INPUTS 4

/* What ends trials that no seed decides, as `ended_by` says it. */
extern const char *const results_inputs[RESULTS_INPUTS];

/* How much is wanted of the trials: what the others tell takes time for each
 * line, and the last one memory, too. */
enum results_part {
    RESULTS_NONE,   /* how the experiment stands, and nothing of trials */
    RESULTS_COUNTS, /* and what is said to be counted */
    RESULTS_ALL,
};

enum results_state {
    RESULTS_RUNNING,
    RESULTS_ENDED,
    RESULTS_DIED,
    RESULTS_QUEUED, /* made by `tunepipe run --batch`, and not begun by its job;
                       that is the reason */
    RESULTS_FORKED, /* made by `tunepipe fork`, and never gone on with */
};

struct results {
    char *folder; /* absolute */
    char *id, *mode_from;
    bool minimize, deterministic;
    uint64_t seed;
    uint64_t max_trials;  /* so many trials, as was said last; 0: no limit */
    struct result *items; /* in the order of their ends, behind them those that
                             were interrupted; NULL: not all are wanted */
    size_t cap;
    /* Counted: */
    size_t n;                         /* items, wanted or not */
    size_t n_ended[TRIAL_STATES + 1]; /* of these, by how they ended */
    size_t n_by[RESULTS_INPUTS];      /* by results_inputs */
    struct result best[RESULTS_BEST]; /* results_ranked(); owned */
    size_t n_best;
    struct objectives *objectives; /* NULL: results are one number */
    struct pareto front;           /* then; of points the result */
    double least_budget;           /* of those that have a results_value() */
    size_t unended;                /* trials that have a folder and no end */
    size_t damaged;                /* lines that could not be read */
    struct idset ids;              /* of those that there are lines of */
    uint64_t counted;              /* how many bytes of results.jsonl */

    enum results_state state;
    char *reason; /* how it ended, one line; NULL: it did not end */
    bool over;    /* it ended and nothing is left to be done */
    bool paused; /* it did not end: no trials are begun until it is continued */
    char *config;      /* the configuration's path when it began */
    char *overrides;   /* JSON: keys that the command line gave (overrides.h);
                          NULL: none */
    double duration_s; /* of the experiment */
};

/* NULL: the folder is no experiment's. */
struct results *results_load(const char *folder, enum results_part part,
                             struct err *err);
void results_free(struct results *r);

/* Adds "counted": what RESULTS_COUNTS tells of a folder in which nothing is to
 * change any more, and of how many bytes that is true, so that nobody reads
 * these again; nothing where it is not plain.  Takes `known`, of that folder,
 * of which results_walk_counting() has read what was there; or NULL. */
void results_note(const char *folder, struct results *known,
                  struct json_writer *w);

/* Walks through the lines of the trials, all of which may not be loaded, until
 * take() returns false; the result is lent during the call.  -1: they cannot be
 * read. */
typedef bool results_take(void *ctx, const struct result *item);
int results_walk(const struct results *r, results_take *take, void *ctx,
                 struct err *err);
/* As well, once, to the end, of results that have RESULTS_NONE; and counts for
 * results_note(). */
int results_walk_counting(struct results *r, results_take *take, void *ctx,
                          struct err *err);

#define RESULTS_NEWEST 1024

/* What results.jsonl has ends of, but for the newest RESULTS_NEWEST lines, and
 * for lines that are written in another way than the manager's: the trials, and
 * the ids of their parameters, where these are numbers. */
struct results_numbers {
    struct idset trials, parameters;
};
int results_numbers(const char *folder, struct results_numbers *out,
                    struct err *err);
void results_numbers_fini(struct results_numbers *n);

/* Finds what is on record of a trial: its end, else its interruption.  True:
 * *out is to be freed by result_fini(). */
bool results_find(const char *folder, uint64_t trial, struct result *out);

/* Whether somebody has asked for trials there: they have no files. */
bool results_of_study(const char *folder);
/* The verb that goes on with it, behind which its folder is to be named. */
const char *results_resume(const char *folder);

/* The search space in an experiment's folder, to be freed, by which
 * parameters_given() spells parameters as the trials got them; NULL: it cannot
 * be read. */
struct space *results_space(const char *folder);
void result_fini(struct result *r);
/* Copies one that results_line() or results_walk() made; -1: out of memory. */
int result_copy(struct result *to, const struct result *from);

/* Whether the trial has a final result, and did not fail. */
bool results_counts(const struct result *item);

/* The trial's final result, also one that is not finite and counts as none.
 * False: it has none. */
bool results_final(const struct result *item, double *value);

/* The value by which a trial is compared with others: its final result, where
 * results_counts(), or the last intermediate one of a trial that was paused
 * when it had used up its budget.  False: it has neither. */
bool results_value(const struct result *item, double *value);

/* Compares two that have a results_value(). */
bool results_is_better(const struct results *r, const struct result *a,
                       const struct result *b);

/* What is judged of a trial that has a results_value() and objectives; false: a
 * value is missing. */
bool results_values(const struct objectives *of, const struct result *item,
                    struct objective_values *out);

/* What a trial that has ended comes to, as far as others are compared with it;
 * its texts are the trial's. */
struct result results_of_trial(const struct trial *t);

/* The best of the trials that have a results_value(), the first of equals;
 * NULL: none.  Where trials have budgets, of those with the greatest one.  With
 * objectives the knee of the front, or else the first of it. */
const struct result *results_best(const struct results *r);

/* The budget of results_best(), where others that have a results_value() had
 * less, and are not compared with it for that; 0: there are none. */
double results_best_budget(const struct results *r);

/* The trials that results_best() compares, best first; fills at most `max`, and
 * RESULTS_BEST; returns how many.  With objectives those of the front. */
size_t results_ranked(const struct results *r, const struct result **out,
                      size_t max);

/* Orders trials of these results as a table has them that begins with the best:
 * first those that results_best() compares, then the others, by number.  With
 * objectives those of each front before those that they dominate, on a front by
 * the first objective. */
void results_sort(const struct results *r, const struct result **items,
                  size_t n);

/* Compares by number: below 0, 0 or above, as strcmp() does. */
int results_compare_numbers(const struct result *a, const struct result *b);

/* Reads a line of results.jsonl.  Members that are not there become empty, null
 * or 0; members that are not known are left out.  -1: no JSON object, or out of
 * memory; then there is nothing to be freed. */
int results_line(const char *line, size_t len, struct result *out);

#endif

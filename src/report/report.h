/* SPDX-License-Identifier: MIT */
/* report.h - an experiment as a report shows it: its trials with their
 * parameters in columns, what they reported, where they went on from and when
 * they ran; read from the experiment's folder, whether it runs, has ended or
 * has died.  One owner, one thread. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "report/curve.h"
#include "report/importance.h"
#include "store/columns.h"

#include "core/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct results;

#define REPORT_NONE SIZE_MAX /* no trial, no device */

/* Texts are owned; NULL: not known. */
struct report_trial {
    char *id, *parameter_id; /* the second is JSON text */
    char *status, *why, *ended_by;
    char *parameters; /* JSON text */
    char *from_id;    /* the trial_job_id of the trial it goes on from */
    char *place;      /* where it ran; NULL: here, or not known */
    char *said;       /* its report that has named values, as JSON text */
    size_t from;      /* index of that trial; REPORT_NONE: none */
    bool cloned;      /* whether it goes on with other parameters */
    bool has_value, has_latest;
    bool counts; /* its value is a result: manager/results.h */
    double value, latest;
    double budget;                /* TRIAL_BUDGET; NAN: none */
    double duration_s;            /* NAN: not ended */
    double queued_s;              /* before that; NAN: not known */
    int64_t started_us, ended_us; /* since 1970; 0: not known */
    uint64_t reports, attempts;
    uint64_t base; /* the first step of its curve */
    struct curve curve;
    size_t attempt; /* the newest one of it in report.attempts, and one */
};

struct report_attempt {
    size_t trial;
    size_t before; /* the attempt of it that was begun before, and one */
    uint64_t number;
    int64_t from_us, to_us; /* 0: it still runs, or nobody saw its end */
    size_t device;          /* in report.devices; REPORT_NONE: none */
};

/* The time between the last record of a session and its resumption. */
struct report_gap {
    int64_t from_us, to_us;
};

/* How the values of a parameter lie on an axis. */
enum report_scale {
    SCALE_LINEAR,
    SCALE_LOG,
    SCALE_CHOICE, /* one of report_parameter.values */
    SCALE_TEXT,   /* too many different ones for an axis */
};

/* A cell is NAN where a trial has no such parameter, else its number, or with
 * CHOICE and TEXT an index into `values`. */
struct report_parameter {
    /* With the names of nested ones before it: "activation/slope". */
    char *name;
    enum report_scale scale;
    bool searched;    /* the search space names it */
    double low, high; /* of the search space; NAN: not known */
    struct columns values;
    double *cells; /* one for each trial */
};

/* Values that trials report beside "default", which is the result.  A cell is
 * that of the trial's final report, or of its last one where that has no named
 * values; NAN where there is none. */
struct report_metric {
    char *name;
    double *cells; /* one for each trial */
};

/* The hypervolume of an experiment with objectives, behind so many results;
 * NaN: pareto_hypervolume() says when. */
struct report_growth {
    uint64_t results;
    double volume;
};

/* A page shows all trials, unless they would take more than REPORT_BYTES.  Then
 * it shows one in so many, which take about half of that, or those of a page of
 * REPORT_PAGE, by their numbers; in both those that live, the best, and those
 * that were the best when they ended, or, with objectives, the front. */
#define REPORT_BYTES 20000000
#define REPORT_PAGE 50000

struct report_want {
    bool all;      /* however many they are; with a page: of that */
    uint64_t page; /* from 1; 0: none */
};

struct report {
    struct results *results; /* id, direction, state, how it ended */
    char *name;
    char *tuner, *assessor;
    uint64_t concurrency; /* 0: not known */
    int64_t began_us, read_us;
    bool elsewhere;              /* trials ran on other machines */
    bool lacks;                  /* the log's first segments are gone */
    uint64_t left_out;           /* trials that are not shown */
    uint64_t page, pages, every; /* of so many; or one in so many, else 0 */

    struct report_trial *trials; /* in the order of their beginnings */
    size_t n_trials, cap_trials;
    struct report_attempt *attempts;
    size_t n_attempts, cap_attempts;
    struct columns devices; /* "0,1" */
    struct report_gap *gaps;
    size_t n_gaps;

    struct report_parameter *parameters;
    size_t n_parameters;
    struct report_metric *metrics; /* in the order in which they came */
    size_t n_metrics;
    struct report_growth *growth; /* where it grew, or one in so many */
    size_t n_growth;
    uint64_t results_seen; /* with objectives: how many results there are */
    struct importance_score *importance;  /* one for each parameter */
    struct importance_score *importances; /* of the second objective and so on,
                                             one for each parameter each */
    double importance_budget; /* budget of the trials from which it is computed;
                                 NAN: any */
    size_t importance_trials; /* how many trials that were */
};

/* Reads an experiment.  NULL: the folder is no experiment's, there is no such
 * page (ERR_USAGE), or the log is damaged (ERR_LOG). */
struct report *report_load(const char *folder, struct report_want want,
                           struct err *err);
void report_free(struct report *r);

/* Appends the JSON of tunepipe-report(1), DATA. */
void report_write_json(const struct report *r, struct buf *out);

/* Appends the page: HTML that needs nothing else.  refresh_s > 0: it loads
 * itself anew after so many seconds while the experiment runs. */
int report_write_page(const struct report *r, uint64_t refresh_s,
                      struct buf *out, struct err *err);

#endif

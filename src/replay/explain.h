/* SPDX-License-Identifier: MIT */
/* explain.h - why a trial got its parameters, and why it was stopped: what the
 * plugins say of it when its log is replayed.
 *
 * One thread. */
#ifndef REPLAY_EXPLAIN_H
#define REPLAY_EXPLAIN_H

#include "command.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct log;
struct plugin_paths;

struct explain_line {
    char *who, *text; /* "tuner random"; what it said */
};

struct explain_lines {
    struct explain_line *at;
    size_t n, cap;
};

/* Why a trial is as it is.  Arrival numbers are 0 where there is no such
 * command; texts are owned. */
struct explanation {
    char *job, *parameter;  /* its two names; NULL: not known */
    char *tuner, *assessor; /* as in the log's head; NULL: none */

    uint64_t dropped; /* the log has lost the commands up to that number */

    uint64_t asked;   /* the command because of which its TR was sent */
    char asked_by[3]; /* the code of that command */
    int64_t asked_us; /* the TR's time */
    char *suggestion; /* the TR's payload */
    struct explain_lines why;
    uint64_t recovered; /* the AD that brought it, when no tuner did */
    char *added;        /* its record there */

    uint64_t reports; /* intermediate metrics of its newest attempt */
    uint64_t latest_step;
    double latest;       /* NaN: none is a number */
    char *latest_values; /* where results are of several values: they as JSON,
                            null where not finite; else NULL */
    uint64_t attempts;

    uint64_t judgements; /* how often the assessor judged it */
    uint64_t judged; /* the command behind which the last judgement was made */
    uint64_t step;
    bool stop;
    enum trial_decision decision; /* decided in the last judgement */
    double value, threshold;      /* NaN: nothing was compared */
    char *rule;
    struct explain_lines judged_why;
    uint64_t killed;  /* the command because of which its KI was sent */
    uint64_t decided; /* the command because of which its DT was sent */

    uint64_t final; /* the command with its final metric */
    double result;
    char *result_values; /* as latest_values */
    double violation;    /* of limits on results; 0: within all */
    uint64_t ended;
    const char *event; /* "SUCCEEDED" */
};

struct explain_setup {
    const char *path; /* of the log */
    const char *trial;
    const struct plugin_paths *paths;
    const struct log *log;
};

/* Explains a trial.  -1: err tells: there is no such trial (ERR_INPUT), or why
 * the log could not be replayed.  explanation_fini() is to be called in any
 * case. */
int explain_run(const struct explain_setup *setup, struct explanation *out,
                struct err *err);
void explanation_fini(struct explanation *x);

#endif

/* SPDX-License-Identifier: MIT */
/* past.h - what a manager that goes on has to know of an experiment's history:
 * what each trial was given and has told, and where earlier managers stood
 * with the dispatcher.  One thread. */
#ifndef MANAGER_PAST_H
#define MANAGER_PAST_H

#include "core/map.h"
#include "log/record.h"
#include "manager/metrics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct history_fact;

/* parameter_source of a trial that the user wants once more, in its AD. */
#define PAST_REPEATED "again"
/* The status in its NT `exited`, where nothing is left to be told of it. */
#define PAST_INTERRUPTED "interrupted"

struct past_trial {
    char *id;           /* its trial_job_id; NULL: it was never started */
    char *parameter_id; /* JSON text */
    char *record;       /* the payload of its TR, byte for byte; may be NULL */
    bool added;         /* AD told of it; then its TR may be on no record */
    uint64_t attempt;   /* the last that was started */
    bool started;
    struct metrics_count heard; /* of that attempt, from the first on */
    struct metrics_count all;   /* the same of all attempts; in lock step they
                                   are one to the dispatcher */
    bool has_latest;
    double latest; /* the last intermediate one that is a number */
    bool has_final;
    double final;     /* the first of that attempt that is a number */
    char *event;      /* of its EN; NULL: none */
    bool released;    /* nobody needs what it saved any more */
    bool interrupted; /* the last attempt was, having told all it had */
    struct past_trial *next;
};

struct past {
    struct past_trial *first, *last; /* in the order of the records */
    struct map by_parameter;         /* JSON text -> past_trial */
    struct map by_id;
    /* The last report or end that was told; `asked`: a request, or a trial
     * that was started for the first time, stands behind it. */
    struct past_told {
        char *id, *payload; /* NULL: there was none */
        size_t len;
        bool end, asked;
        uint64_t sequence; /* of a report */
    } told;
    bool any;         /* the log has a record */
    bool space;       /* IN was sent */
    uint64_t imports; /* so many FD behind it */
    bool cut;         /* its first segments are not there any more */
    bool failed;      /* out of memory */
};

/* A zeroed struct past is an empty one. */
void past_fini(struct past *p);

/* All of it; -1: the log is damaged, or out of memory. */
int past_load(struct past *p, const char *folder, struct err *err);

/* The next fact. */
void past_add(struct past *p, const struct history_fact *fact);

/* Whether the log knows, by TR or AD, the parameters with this id (JSON
 * text). */
bool past_gave(const struct past *p, const char *parameter_id);

/* NULL: the log does not know it. */
const struct past_trial *past_find(const struct past *p, const char *id);

#endif

/* SPDX-License-Identifier: MIT */
/* resume_log.h - what a manager that resumes an experiment has to know of its
 * history: what each trial was given and has reported, and where the earlier
 * managers stood with the dispatcher.  One thread. */
#ifndef MANAGER_RESUME_LOG_H
#define MANAGER_RESUME_LOG_H

#include "core/idset.h"
#include "core/map.h"
#include "manager/metrics.h"
#include "manager/trial.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct history_fact;
struct results_numbers;

/* The status in the NT `exited` of an attempt that was interrupted, when all
 * that it had reported was sent. */
#define STATUS_INTERRUPTED "interrupted"

struct logged_trial {
    char *id;           /* its trial_job_id; NULL: it was never started */
    char *parameter_id; /* JSON text */
    char *record; /* the payload of its TR, byte for byte, or of an AD; NULL */
    bool added;   /* an AD names it; then it may have no TR in the log */
    uint64_t attempt; /* the last that was started */
    bool started;
    struct metrics_count sent; /* metrics of that attempt, from the first on */
    struct metrics_count all; /* metrics of all attempts: in lock step these are
                                 one attempt to the dispatcher */
    struct reported latest;   /* the last intermediate metric with a number */
    struct reported final;    /* the first final metric of that attempt with one
                               */
    char *event;              /* of its EN; NULL: none */
    bool released;            /* the tuner needs its checkpoints no more */
    bool interrupted; /* its last attempt was, and had sent all it reported */
    struct logged_trial *previous, *next;
};

struct resume_log {
    /* To be set before: trials whose ends are known otherwise, by number, and
     * the ids of their parameters.  Of these nothing but their ends is read,
     * which saves most of the time, and memory is bounded by the other trials;
     * where one has no end in the log, or its front was dropped, all is.  NULL:
     * there are none. */
    const struct results_numbers *recorded;
    struct idset ended;                /* trials whose ends came, by number */
    struct logged_trial *first, *last; /* in the order of the records */
    struct map by_parameter;           /* JSON text -> logged_trial */
    struct map by_id;
    /* The last intermediate metric, or end that asks for an answer, that was
     * sent; in lock step the next manager goes on from there. */
    struct last_sent {
        char *id, *payload; /* its trial, its frame's payload; NULL: none was */
        size_t len;
        bool end;   /* it is an end */
        bool asked; /* after it a request was sent, or a trial started for
                       the first time */
        uint64_t sequence; /* of a metric */
    } last_sent;
    bool any;           /* the log has a record */
    bool space;         /* IN was sent */
    uint64_t imports;   /* how many FD came after it */
    bool front_dropped; /* the log's first segments were dropped */
    bool failed;        /* out of memory */
};

/* A zeroed struct resume_log is empty. */
void resume_log_fini(struct resume_log *log);

/* Reads the whole log; -1: it is damaged, or out of memory. */
int resume_log_load(struct resume_log *log, const char *folder,
                    struct err *err);

/* Takes the next fact of the log. */
void resume_log_add(struct resume_log *log, const struct history_fact *fact);

/* Whether the log knows, by TR or AD, the parameters with this id (JSON
 * text). */
bool resume_log_gave(const struct resume_log *log, const char *parameter_id);

#endif

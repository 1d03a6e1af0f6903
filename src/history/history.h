/* SPDX-License-Identifier: MIT */
/* history.h - what became of an experiment's trials: the one place where the
 * records of its command log are joined.  Facts come out one after the other,
 * each with the trial it is about; a trial's state is dropped once its end was
 * handed out, so that memory is bounded by the trials that live (and one bit
 * for each that has ended, or its name where it is not a manager's number).
 *
 * What several records say of the same thing has one answer:
 *
 * - A trial is known by its trial_job_id: another one may run the same
 *   parameters.  It ran those that its own metrics name; those that its notes
 *   name where it reported none; those of its end where there is no note.
 * - An attempt begins with its first note (`preparing`, `started`), or, where a
 *   manager died before it noted it, when its exit file says, which is there
 *   once it has ended.  It ends with its `exited` note, or with the next
 *   attempt, or with its trial.
 * - The time between the death of a manager and the resumption is nobody's.
 *   An attempt that ran when the manager died has ended when its exit file or
 *   its line in results.jsonl says so; without either with the last record
 *   before, or with what it reported later.  So one that was adopted keeps its
 *   whole time, and one that died with the manager has none of the gap.
 *   Whatever is told behind the gap of an attempt that ended within it was so
 *   when that ended.
 * - A metric is known by trial, attempt, type and sequence; sequences only
 *   grow, so one at or below the last is a second copy.
 * - The first end of a trial counts.
 * - A log that is not there, or is void (nothing was ever begun), is empty.
 *
 * One owner, one thread. */
#ifndef HISTORY_HISTORY_H
#define HISTORY_HISTORY_H

#include "json.h"
#include "objectives/objectives.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct history_reader;
struct record;

/* Times are microseconds since 1970; 0: not known. */
struct history_attempt {
    uint64_t number;    /* from 0 */
    int64_t begun_us;   /* when its preparation began, where it has one */
    int64_t started_us; /* when its run began */
    int64_t ended_us;   /* 0 as well while it runs */
};

/* Parameters that were suggested, or given by the user, for a trial to run.
 * JSON texts. */
struct history_suggestion {
    char *id, *parameters;
    char *from;  /* trial_job_id of the trial whose state it goes on from; NULL:
                    none */
    bool cloned; /* whether it goes on with other parameters than that */
    bool earlier; /* it was made before the last resumption */
};

/* A trial that has not ended.  The reader owns all of it. */
struct history_trial {
    char *job;                           /* trial_job_id */
    struct history_suggestion suggested; /* members NULL: not known */
    uint64_t attempts;                   /* how many were begun */
    struct history_attempt attempt;      /* the newest one */
    uint64_t reports; /* intermediate metrics of the newest attempt to report */
    uint64_t base;    /* the step of the first of those metrics */
    bool has_latest, has_final;
    double latest; /* the last intermediate value that is a number */
    double final;  /* the first final value of that attempt that is a number */
};

enum history_kind {
    HISTORY_RECORD,    /* a record that changes nothing for any trial */
    HISTORY_RESUMED,   /* R: a session goes on */
    HISTORY_NOTE,      /* another note of the manager's */
    HISTORY_SUGGESTED, /* TR */
    HISTORY_ADDED,     /* AD: parameters that the manager tells of, one fact for
                          each */
    HISTORY_BEGUN,     /* an attempt begins; a second time when its run starts
                          behind its preparation */
    HISTORY_REPORTED,  /* a trial has reported a metric */
    HISTORY_DECIDED,   /* KI, DT: something is decided on a trial */
    HISTORY_EXITED,    /* an attempt has ended */
    HISTORY_ENDED, /* a trial has ended, and is seen for the last time; without
                      `trial` it had ended before */
};

/* Whether a metric changes what is known of its trial. */
enum history_standing {
    HISTORY_COUNTS,
    HISTORY_AGAIN,      /* a second copy of one that counted */
    HISTORY_SUPERSEDED, /* a newer attempt has reported */
    HISTORY_LATE,       /* its trial has ended */
};

struct history_value {
    const char *name; /* "default", or as the objectives say */
    double value;     /* may be NaN or infinite */
};

struct history_metric {
    bool final;
    uint64_t attempt, sequence;
    uint64_t base; /* the step that sequence 0 has */
    enum history_standing standing;
    /* One, or where the experiment has objectives theirs, then those that only
     * limits name. */
    struct history_value values[OBJECTIVES_VALUES_MAX];
    size_t n_values;  /* 0: it was no number, or lacked a value */
    double violation; /* of limits on results; 0: within all */
};

struct history_decision {
    const char *what; /* the decision: "stop", "pause", "release", ... */
    bool by_tuner;    /* the tuner's decision; else the assessor's */
    bool kills;       /* it came as KI; else as DT */
};

/* A fact, and all that it refers to, is lent until the next one. */
struct history_fact {
    enum history_kind kind;
    const struct record *record; /* the record that tells it */
    int64_t time_us;             /* when it happened */
    const char *job; /* trial_job_id; NULL: the fact is about no trial */
    const struct history_trial *trial; /* the trial as the fact has left it;
                                          NULL: not known, or ended before */
    const char *payload; /* payload of the frame, behind its code ... */
    size_t len;
    /* ... parsed: NOTE, SUGGESTED, ADDED (its own element), BEGUN, DECIDED by a
     * DT, EXITED by a note; else null. */
    struct jval object;
    union {
        const struct history_suggestion *suggestion; /* SUGGESTED, ADDED */
        const char *event;                           /* NOTE */
        int64_t gone_us; /* RESUMED: time of the last record of the session
                            before */
        struct {         /* BEGUN, EXITED */
            struct history_attempt attempt;
            bool runs;  /* BEGUN: it runs, and is not only prepared */
            bool dated; /* EXITED: its exit file shows that it started at
                           another time than BEGUN told */
            /* EXITED: "exited 0", ...; NULL: nobody saw how. */
            const char *status;
        };
        struct history_metric metric;     /* REPORTED */
        struct history_decision decision; /* DECIDED */
        struct {                          /* ENDED */
            const char *end;              /* "SUCCEEDED", ... */
            bool awaited;                 /* the manager waits for an answer */
        };
    };
};

/* Opens the history of the experiment in this folder.  NULL: the log cannot be
 * read, and err tells. */
struct history_reader *history_open(const char *folder, struct err *err);
/* Opens the history in a log alone, wherever it lies, without trials'
 * folders. */
struct history_reader *history_open_log(const char *path, struct err *err);
/* Makes a history without a log, which history_take() gives its records. */
struct history_reader *history_new(struct err *err);
void history_close(struct history_reader *h);

/* Takes in a further record, whose facts history_next() then returns; its
 * payload is lent until the next one. */
int history_take(struct history_reader *h, const struct record *record,
                 struct err *err);

/* Leaves out facts of these kinds (1 << KIND; of SUGGESTED, ADDED, REPORTED,
 * DECIDED): their records are not parsed, which saves time, and what they alone
 * tell of trials is not known.  Without SUGGESTED no start is dated back. */
void history_leave_out(struct history_reader *h, unsigned kinds);

/* For whoever needs of notes and suggestions no more than what the facts say:
 * most have no object then, and parameters are spelled as in the log; that
 * takes half the time. */
void history_read_plainly(struct history_reader *h);

/* Leaves out records that this is true of, as if they were not there. */
typedef bool history_skip(void *ctx, const struct record *record);
void history_leave_out_records(struct history_reader *h, history_skip *skip,
                               void *ctx);

/* 1: *fact is the next fact; 0: there are no more (a tail that is cut off may
 * still be completed); -1: the log is damaged (ERR_LOG), or out of memory.
 * Each record gives at least one fact. */
int history_next(struct history_reader *h, struct history_fact *fact,
                 struct err *err);

/* The metric that a trial reported, as JSON, where that is more than a finite
 * number; to be freed.  NULL: it is one. */
char *history_said(const struct history_fact *reported);

/* For an experiment whose manager is gone, behind its last fact: ends attempts
 * that the log leaves open, as EXITED at the time of the last record, or as
 * their exit files say.  1: *fact is one of them; 0: there are no more. */
int history_settle(struct history_reader *h, struct history_fact *fact);

/* Whether first segments of the log were dropped: what began there may not be
 * known. */
bool history_lacks(const struct history_reader *h);

/* ---- to be gone on with ---- */

/* Where the record that was read last stands; segment 0: none was read. */
struct history_position {
    int64_t segment, offset, number, time_us;
};

struct history_position history_at(const struct history_reader *h);

/* Appends the reader's state and place. */
void history_save(const struct history_reader *h, struct buf *out);
/* Restores what history_save() appended, before the first fact: history_next()
 * then returns what it would have returned there.  Segments that were dropped
 * meanwhile are left out.  1: the record does not exist any more, or the bytes
 * are damaged; -1: out of memory; err tells, and the reader is of no use. */
int history_load(struct history_reader *h, const void *bytes, size_t len,
                 struct err *err);

/* Looks for records that were appended since the last fact.  -1: err tells. */
int history_grow(struct history_reader *h, struct err *err);

#endif

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
    int64_t begun_us;   /* with its preparation, where it has one */
    int64_t started_us; /* its run */
    int64_t ended_us;   /* 0 as well while it runs */
};

/* Parameters that somebody is to run.  JSON texts. */
struct history_suggestion {
    char *id, *parameters;
    char *from;   /* trial_job_id of the trial it goes on from; NULL: of none */
    bool cloned;  /* then: with other parameters */
    bool earlier; /* it was made before the last resumption */
};

/* A trial that lives.  All of it is the reader's. */
struct history_trial {
    char *job;                           /* trial_job_id */
    struct history_suggestion suggested; /* members NULL: not known */
    uint64_t attempts; /* that were begun: the newest one's number and one */
    struct history_attempt attempt; /* that one */
    uint64_t reports; /* intermediate metrics of the newest attempt to report */
    uint64_t base;    /* the step of the first of them */
    bool has_latest, has_final;
    double latest; /* the last intermediate one that is a number */
    double final;  /* the first final one of that attempt that is a number */
};

enum history_kind {
    HISTORY_RECORD,    /* what changes nothing for any trial */
    HISTORY_RESUMED,   /* R: a session goes on */
    HISTORY_NOTE,      /* a note of the manager's that is none of these */
    HISTORY_SUGGESTED, /* TR */
    HISTORY_ADDED,     /* AD: parameters, or one of several, that the manager
                          tells of */
    HISTORY_BEGUN,     /* an attempt; once more when its run starts behind its
                          preparation */
    HISTORY_REPORTED,  /* a metric */
    HISTORY_DECIDED,   /* KI, DT: a word on a trial */
    HISTORY_EXITED,    /* an attempt */
    HISTORY_ENDED,     /* a trial: the last time it is seen; without `trial`
                          it had ended before */
};

/* Whether a metric changes what is known of its trial. */
enum history_standing {
    HISTORY_COUNTS,
    HISTORY_AGAIN,      /* a second copy */
    HISTORY_SUPERSEDED, /* a newer attempt has reported */
    HISTORY_LATE,       /* its trial has ended */
};

struct history_value {
    const char *name; /* "default" is the objective */
    double value;     /* may be NaN or infinite */
};

struct history_metric {
    bool final;
    uint64_t attempt, sequence;
    uint64_t base; /* the step of sequence 0 */
    enum history_standing standing;
    struct history_value values[1]; /* the objective is the first */
    size_t n_values;                /* 0: it was no number */
};

struct history_decision {
    const char *what; /* "stop", "pause", "release", ... */
    bool by_tuner;    /* else by the assessor */
    bool kills;       /* KI; else DT */
};

/* Lent until the next one, as is all it refers to. */
struct history_fact {
    enum history_kind kind;
    const struct record *record;       /* that tells */
    int64_t time_us;                   /* when it was so */
    const char *job;                   /* trial_job_id; NULL: of no trial */
    const struct history_trial *trial; /* as it is then; NULL: not known, or it
                                          has ended */
    const char *payload;               /* of the frame, behind its code ... */
    size_t len;
    struct jval object; /* ... parsed: NOTE, SUGGESTED, ADDED (its own), BEGUN,
                           DECIDED of a DT, EXITED by a note; else null */
    union {
        const struct history_suggestion *suggestion; /* SUGGESTED, ADDED */
        const char *event;                           /* NOTE */
        int64_t gone_us; /* RESUMED: the last sign of the session before */
        struct {         /* BEGUN, EXITED */
            struct history_attempt attempt;
            bool runs;  /* BEGUN: not its preparation alone */
            bool dated; /* EXITED: its start is another than BEGUN told, since
                           its exit file was not there yet */
            const char *status; /* EXITED: "exited 0", ...; NULL: nobody saw
                                   it */
        };
        struct history_metric metric;     /* REPORTED */
        struct history_decision decision; /* DECIDED */
        struct {                          /* ENDED */
            const char *end;              /* "SUCCEEDED", ... */
            bool awaited;                 /* the manager waits for an answer */
        };
    };
};

/* The history of the experiment in this folder.  NULL: the log cannot be
 * read. */
struct history_reader *history_open(const char *folder, struct err *err);
/* The history in a log alone, wherever it is, without trials' folders. */
struct history_reader *history_open_log(const char *path, struct err *err);
/* One without a log, which history_take() gives its records. */
struct history_reader *history_new(struct err *err);
void history_close(struct history_reader *h);

/* Another record, whose facts history_next() gives then; its payload is lent
 * until the next one. */
int history_take(struct history_reader *h, const struct record *record,
                 struct err *err);

/* Facts of these kinds (1 << KIND; SUGGESTED, ADDED, REPORTED, DECIDED) are not
 * wanted: their records are not taken apart, which saves time, and of trials is
 * not known what they alone tell.  Without SUGGESTED no start is dated back. */
void history_leave_out(struct history_reader *h, unsigned kinds);

/* 1: the next fact; 0: there are no more (a tail that is cut off is not there
 * yet); -1: the log is damaged (ERR_LOG), or out of memory.  Each record gives
 * one fact at least. */
int history_next(struct history_reader *h, struct history_fact *fact,
                 struct err *err);

/* What a trial reported, as JSON, where that is more than a finite number; to
 * be freed.  NULL: it is one. */
char *history_said(const struct history_fact *reported);

/* For an experiment that nobody runs, behind its last fact: attempts that the
 * log leaves open, as EXITED with its last record, or as their exit files say.
 * 1: a fact; 0: there are no more. */
int history_settle(struct history_reader *h, struct history_fact *fact);

/* Whether first segments of the log were dropped: what began there may be
 * unknown. */
bool history_lacks(const struct history_reader *h);

/* ---- to be gone on with ---- */

/* The record that was read last; segment 0: none was. */
struct history_position {
    int64_t segment, offset, number, time_us;
};

struct history_position history_at(const struct history_reader *h);

/* Appends where the reader is and what is known there. */
void history_save(const struct history_reader *h, struct buf *out);
/* Takes it back, before the first fact: what comes is what would have come.
 * Segments that were dropped meanwhile are left out.  1: there is no such
 * record any more, or the bytes are damaged; -1: out of memory; err tells, and
 * the reader is of no use. */
int history_load(struct history_reader *h, const void *bytes, size_t len,
                 struct err *err);

/* What was appended since the last fact is there, too.  -1: err tells. */
int history_grow(struct history_reader *h, struct err *err);

#endif

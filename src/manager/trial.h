/* SPDX-License-Identifier: MIT */
/* trial.h - one attempt at a trial: its state, what is known of it, and what it
 * holds.  Which state follows which: trial_step.h.  One thread. */
#ifndef MANAGER_TRIAL_H
#define MANAGER_TRIAL_H

#include "core/list.h"
#include "manager/pending_reports.h"
#include "manager/claim.h"
#include "manager/deadlines.h"
#include "manager/metrics.h"
#include "manager/nnifile.h"
#include "manager/parameters.h"
#include "trial/outcome.h"
#include "manager/tail.h"
#include "trial/report.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;
struct err;
struct run;
struct suggestion;

enum trial_state {
    TRIAL_WAITING,       /* has its parameters, waits for a slot */
    TRIAL_COPYING,       /* the same, while what it goes on from is copied */
    TRIAL_PREPARING,     /* prepareCommand runs */
    TRIAL_PREPARE_ENDED, /* it ended otherwise than well, and is not judged */
    TRIAL_PREPARED,      /* it ended well; waits for what trialCommand needs */
    TRIAL_RUNNING,       /* trialCommand runs */
    TRIAL_RUN_ENDED,     /* it ended, and is not judged: its files are read */
    TRIAL_SUCCEEDED,     /* ended well, with a final result */
    TRIAL_FAILED,
    TRIAL_STOPPED,   /* by the assessor */
    TRIAL_PAUSED,    /* by the tuner: its checkpoint is kept */
    TRIAL_CANCELLED, /* by the user */
    TRIAL_TIMED_OUT,
    TRIAL_OUT_OF_MEMORY, /* it failed, for want of memory */
    TRIAL_LOST,          /* its wrapper vanished */
    TRIAL_INTERRUPTED,   /* with its manager: another attempt follows */
    TRIAL_STATES
};

/* Why a running trial was told to end; the first reason stays, but in place of
 * an interruption any other one that comes during the grace.  A new one has a
 * row each in trial.c (its word and answer, trial_judge(), trial_ended_by()),
 * trial_step.c and trial/files.h. */
enum trial_stop {
    STOP_NOT,
    STOP_ASSESSOR,
    STOP_TIMEOUT, /* maxTrialDuration */
    STOP_IDLE,    /* trialIdleTimeout */
    STOP_CANCEL,
    STOP_PAUSE,     /* the tuner's: its checkpoint is kept */
    STOP_FINISH,    /* the tuner's: its latest value is its final one */
    STOP_INTERRUPT, /* its manager was told to stop */
    STOP_REASONS
};

/* What may have to be done with it at some time. */
enum trial_due {
    TRIAL_DUE_LIMIT, /* maxTrialDuration is over */
    TRIAL_DUE_IDLE,  /* trialIdleTimeout may be over */
    TRIAL_DUE_TERM,  /* it was given time to end by itself, and has not */
    TRIAL_DUE_KILL,  /* the wrapper itself is given up */
    TRIAL_DUE_AGAIN, /* it has failed, and is tried again */
    TRIAL_DUE_OFFER, /* it is offered a place again */
    TRIAL_DUE_PLACE, /* it is offered none any more */
    TRIAL_DUE_JUDGE, /* a signal ended it, and none came to the manager */
    TRIAL_DUE_WATCH, /* its end is to be watched for, which failed before */
    TRIAL_DUES
};

#define TRIAL_NO_FINAL "no final metric" /* why, when it exited with 0 */
#define TRIAL_FINAL_LACKS "the final metric has " /* why, what it lacks */
#define TRIAL_FINAL_REFUSED TRIAL_NO_FINAL ": what it reported was refused"

/* What an earlier manager has left of a trial; all zero: nothing. */
struct trial_past {
    bool restored;    /* its files are read from the start by this manager */
    bool recorded;    /* its result is on record and has been shown */
    bool end_told;    /* the dispatcher has heard of its end, */
    bool start_told;  /* and of its start, */
    bool interrupted; /* and that it was interrupted, with all it had told */
    enum trial_state end; /* recorded or told: how; WAITING: to be judged */
    bool cut_off; /* the attempt before was, with its manager: this one runs
                     though the time of the experiment is over */
    struct metrics_count told; /* the dispatcher has heard of so many; in lock
                                  step also from an earlier attempt */
};

/* A value that there may be.  Of a report that is an object `value` is NaN
 * where it has no number of the first objective's. */
struct reported {
    bool given;
    double value;
    char *json; /* the object; NULL: a number alone */
};

/* Takes the place of what was there; json, which is copied, may be a number. */
void reported_set(struct reported *r, double value, const char *json,
                  size_t len);
void reported_copy(struct reported *to, const struct reported *from);
void reported_clear(struct reported *r);

/* Of what something bad was told, once: bits. */
enum trial_complaint {
    COMPLAINED_OF_METRICS = 1,
    COMPLAINED_OF_RECORDS = 2, /* in NNI's file */
    COMPLAINED_OF_NNI_END = 4, /* that file is cut off */
    COMPLAINED_OF_STDOUT = 8,
    REFUSED_A_FINAL = 16, /* `tunepipe trial report` told the trial so */
};

struct trial {
    uint64_t number;   /* from 0, in the order of the TRs */
    char id[24];       /* its trial_job_id: the number, five digits or more */
    uint64_t attempt;  /* how often it was started before */
    uint64_t failures; /* of these, those that failed */
    char *record;      /* the TR's payload, byte for byte */
    size_t record_len;
    char *parameter_id; /* JSON text of the TR's */
    char *parameters;   /* JSON text, one line */
    struct origin origin;
    double budget; /* TRIAL_BUDGET: intermediate results; 0: none */

    enum trial_state state;
    enum trial_stop stop;
    struct metrics_count counted;   /* of a stopped one, what came before */
    enum trial_stop postponed_stop; /* in lock step, by a decision about an
                                   earlier attempt: due where this one has
                                   reported as much */
    char *folder;                   /* absolute */
    char place[96];  /* where that ran (run_describe()); "": here */
    double queued_s; /* and how long it waited for its machine */
    struct run *run; /* its phase that runs (runner/runner.h); NULL: none */
    pid_t copier;    /* copies the checkpoint it goes on from: copying.h */
    int copier_fd;   /* its pidfd; -1: there is none */
    struct outcome outcome;  /* when its run was gone */
    int64_t started_ns;      /* monotonic, of its run; 0: that never began */
    int64_t reported_ns;     /* monotonic: its last metric, or its start */
    int64_t ended_ns;        /* monotonic; 0: its wrapper is not gone */
    int64_t prepare_ns;      /* how long that took; 0: it did not end */
    struct tail report, out; /* `metrics` and `stdout` */
    struct nnifile nni;      /* `.nni/metrics` */
    /* inotify's; -1: none */
    int folder_watch, report_watch, out_watch, nni_watch;

    struct claim claim;           /* what it was given of the machine */
    struct unanswered unanswered; /* reports that wait for an answer */
    struct unsent unsent;         /* in lock step: what has not had its turn */
    struct metrics metrics;
    uint64_t matches;             /* results taken from stdout */
    struct pattern_values *found; /* what it has told of the next one; NULL */
    uint64_t sent; /* intermediate results that the dispatcher was told */
    struct reported latest, final; /* that were told */
    bool done;               /* it said so: it is ended, and has succeeded */
    struct reported read;    /* the last intermediate one, perhaps not told yet,
                                without its object */
    uint64_t restore;        /* the checkpoint it was given; 0: none */
    uint64_t step;           /* intermediate results before that was saved */
    struct reported earlier; /* the last one of an earlier attempt */
    struct reported reached; /* the one that reached its budget, */
    uint64_t reached_at;     /* and its position */
    int64_t stamped_ns;      /* when the last report was read; 0: not known */
    unsigned complaints;     /* enum trial_complaint */
    struct recent recent;    /* of the intermediate ones */
    char *lacks;   /* what a final result lacks that was reported; NULL */
    char why[512]; /* for a failure, or a result that is no finite
                      number: one line */

    struct trial_past past;

    struct deadline due[TRIAL_DUES]; /* set by running_due() */
    unsigned offers;                 /* that failed, in a row */
    int64_t place_until_ns; /* of these, should one fail again; 0: not yet */
    struct link queue;      /* placing.h: it waits for a place */
    struct link unread;     /* reading.h: its files may hold more */
    struct trial *next, *previous; /* live.h */
};

/* Takes nothing; the three texts are copied.  NULL: out of memory. */
struct trial *trial_new(uint64_t number, const char *record, size_t record_len,
                        const char *parameter_id, const char *parameters);
/* The same of a TR that was read. */
struct trial *trial_of(uint64_t number, const char *record, size_t record_len,
                       const struct suggestion *s);
/* Closes what is open; never kills. */
void trial_free(struct trial *t);
/* Closes what is open and forgets the folder: it may be placed anew. */
void trial_close(struct trial *t);

/* Sets t->folder: FOLDER/trials/ID, of a later attempt FOLDER/trials/ID.N. */
int trial_place(struct trial *t, const char *experiment_folder,
                struct err *err);

/* It waits for a place, or for what has to be copied first. */
bool trial_waits(const struct trial *t);
/* Its folder was made, or an attempt before it was started. */
bool trial_began(const struct trial *t);
/* Its wrapper is gone. */
bool trial_exited(const struct trial *t);

/* The word in TRIAL_STOP; STOP_REASONS: no such word. */
const char *trial_stop_name(enum trial_stop stop);
enum trial_stop trial_stop_of(const char *word);
/* What a report is answered. */
enum report_answer trial_answer(const struct trial *t);
/* By the dispatcher: its assessor, or its tuner. */
bool trial_stop_is_decided(enum trial_stop stop);
/* It was told to pause or to finish: a final result still counts. */
bool trial_stops_well(const struct trial *t);
/* No reason to end it stands, or an interruption alone, whose place any other
 * reason takes. */
bool trial_undecided(const struct trial *t);
/* In lock step an earlier attempt, or manager, has told more than this one. */
bool trial_repeats(const struct trial *t);
/* How many of its intermediate results count. */
uint64_t trial_reports(const struct trial *t);
/* Whether the intermediate result at this position is the first that uses up
 * the trial's budget. */
bool trial_reaches(const struct trial *t, uint64_t sequence);

/* "succeeded", "stopped", ... */
const char *trial_state_name(enum trial_state state);
/* Failed, out of memory or lost: its result, should there be one, does not
 * count, and it may be tried again. */
bool trial_is_failure(enum trial_state state);
/* Whose doing the end was: "itself", "assessor", "tuner", "clock", "user",
 * "signal", "system" or, of an interrupted one, "manager"; t has ended.  One
 * that a tuner stops is told from one of an assessor by there being none. */
const char *trial_ended_by(const struct trial *t, bool has_assessor);
/* The other way round; TRIAL_STATES: no such word. */
enum trial_state trial_state_of(const char *name);
/* The first state that has this word of NNI's. */
enum trial_state trial_state_of_event(const char *event);
/* NNI's word for EN; state is one a trial ends in. */
const char *trial_event_name(enum trial_state state);

/* What the end of the process means, given why it was stopped
 * and whether there is a final result; fills t->why. */
enum trial_state trial_judge(struct trial *t, const struct outcome *outcome);

/* Of a program that ended well and left no result, as its `why` says, adds what
 * was looked for; false: it is none.  `folder`: the trial's; has_pattern: there
 * is a metrics.pattern. */
bool trial_explain_no_final(struct buf *out, const char *why, bool has_pattern,
                            bool has_latest, const char *folder);

/* Of a trial that succeeded with a result that is not finite and so counts as
 * none, as its `why` says it: which one.  False: it is no such trial. */
bool trial_uncounted_final(const char *why, double *value);

#endif

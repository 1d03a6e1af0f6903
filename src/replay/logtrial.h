/* SPDX-License-Identifier: MIT */
/* logtrial.h - which records of a log are about one trial.
 *
 * A trial has two names: the manager's (trial_job_id) and the dispatcher's
 * (parameter_id), and most records hold only one of them.  What a trial's own
 * metrics say counts; then its last note; what its end says is a hint, as in
 * history.h. One thread. */
#ifndef REPLAY_LOGTRIAL_H
#define REPLAY_LOGTRIAL_H

#include <stdbool.h>

struct err;
struct log_reader;
struct record;

struct logtrial {
    char *job;       /* trial_job_id; NULL: none is known */
    char *parameter; /* parameter_id as text; NULL: none is known */
    bool may_learn;  /* the log was not searched: the first record with both
                        names tells the other */
};

/* Finds the trial that `word` names, a trial_job_id, else a parameter_id, else
 * the number of a trial ("3" is our manager's 00003), and rewinds the log.
 * 1: found; 0: the log has nothing of it (yet): both names are then `word`;
 * -1: err tells. */
int logtrial_find(struct logtrial *t, struct log_reader *file, const char *word,
                  struct err *err);
/* Finds a trial of which the log must have something: 0, or -1 where it has
 * nothing, too. */
int logtrial_expect(struct logtrial *t, struct log_reader *file,
                    const char *word, struct err *err);
void logtrial_fini(struct logtrial *t);

/* Whether the record is about this trial: its TR, ME, NT, KI, DT, AK, EN, or
 * AD. */
bool logtrial_has(struct logtrial *t, const struct record *record);

#endif

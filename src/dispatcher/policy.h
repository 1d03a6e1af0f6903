/* SPDX-License-Identifier: MIT */
/* policy.h - the choices a session makes once, all recorded in the log's
 * first record, because answers depend on them. */
#ifndef DISPATCHER_POLICY_H
#define DISPATCHER_POLICY_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct json_writer;
struct mark;
struct objectives;
struct trial_end;

/* What the tuner is told of the values of a trial that was stopped early. */
enum stopped_policy { TELL_NOTHING, TELL_LATEST, TELL_BEST };

/* What a plugin's error costs: its command, or the session. */
enum error_policy { ERROR_SKIP, ERROR_FAIL };

/* What a request gets for which the tuner failed: nothing (NO), or a sample of
 * the search space's prior. */
enum ask_policy { ASK_REFUSE, ASK_PRIOR };

/* Under policy `reissue`: how often a tuner that fails is asked again at
 * once, when no trial is out whose end could be the occasion. */
#define POLICY_TRIES 3

/* What the assessor judges if that is no objective's name. */
#define POLICY_RANK "rank"

struct policy {
    enum stopped_policy stopped;
    enum error_policy on_error;
    enum ask_policy ask_error;
    bool extensions; /* the manager knows our additions to NNI's protocol:
                        PROTOCOL.md */
    bool maximize;   /* higher results are better */
    bool directed;   /* the experiment says which are, and plugins and programs
                        are told; else the tuner's arguments say it */
    bool nni; /* the manager is NNI's: it may be started again, and then sends
                 IN, FD and AD anew (reunion.h) */
    bool reissue; /* NNI's manager never asks again for a suggestion that it
                     lost or was refused, so lost ones are given out again
                     (reunion.h), and the tuner is asked again where it
                     failed; older logs lack that */
    bool reclaim; /* ids that a stop left owed go to the next requests, so that
                     an interruption changes no trial's id; older logs lack
                     that */
    /* What results are judged by, borrowed; NULL: they are one number.  With
     * one objective and no limits `maximize` is its direction; else it is
     * false, and a plugin that takes one value is told what is made of several
     * (plugin/scalar.h). */
    const struct objectives *objectives;
    const char *assessor_objective; /* the one that the assessor judges,
                                       borrowed; NULL: what is made of all */
};

/* Which of the values of a trial that was stopped early the tuner is told;
 * NULL: none. */
const struct mark *policy_mark(const struct policy *p,
                               const struct trial_end *end);

/* Each sets *out from its word; -1: err says which words there are. */
int policy_set_stopped(struct policy *p, const char *word, struct err *err);
int policy_set_on_error(struct policy *p, const char *word, struct err *err);
int policy_set_ask_error(struct policy *p, const char *word, struct err *err);

/* "minimize" or "maximize", which an argument may hold in any case; NULL: the
 * word is neither. */
const char *policy_direction_of(const char *word);
int policy_set_direction(struct policy *p, const char *word, struct err *err);
/* The experiment's direction; NULL: it says none. */
const char *policy_direction(const struct policy *p);

/* Sets the objectives, and the direction that comes of them.  `judged` (may be
 * NULL) is what the assessor is to judge, an objective or POLICY_RANK.  -1: err
 * says that it is none, and which there are. */
int policy_set_objectives(struct policy *p, const struct objectives *o,
                          const char *judged, struct err *err);
/* Whether several values, or limits, are made one for a plugin that takes one
 * alone. */
bool policy_scalarizes(const struct policy *p);
/* The index of the objective that the assessor judges; SIZE_MAX: none. */
size_t policy_judged(const struct policy *p);
/* Whether it judges ranks: judged.h. */
bool policy_judges_rank(const struct policy *p);
/* The direction of what the assessor is told; NULL: none is known. */
const char *policy_assessor_direction(const struct policy *p);
/* The direction that programs are told, which read the values themselves. */
const char *policy_program_direction(const struct policy *p);

/* Adds the policies as members of the object that is open. */
void policy_write(const struct policy *p, struct json_writer *w);

#endif

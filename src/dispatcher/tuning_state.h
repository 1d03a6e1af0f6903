/* SPDX-License-Identifier: MIT */
/* tuning_state.h - what the files behind tuning.h share: the state of the
 * default worker and how its handlers speak.  Nobody else includes it. */
#ifndef DISPATCHER_TUNING_STATE_H
#define DISPATCHER_TUNING_STATE_H

#include "core/buf.h"
#include "dispatcher/origins.h"
#include "dispatcher/owed.h"
#include "dispatcher/reunion.h"
#include "dispatcher/trials.h"
#include "dispatcher/tuning.h"

struct json;
struct jval;
struct space;
struct tp_result;
struct tuner_terms;

struct tuning {
    struct tuner *tuner;
    const struct policy *policy;
    struct emitter emitter;
    const struct explainer *explainer; /* NULL: nobody */
    const struct log *log;
    struct space *space; /* NULL before IN */
    struct trials *trials;
    struct owed owed;
    struct reunion reunion;
    struct origins origins; /* of an advisor alone */
    uint64_t next_id;
    double *x;          /* n_dims of the space: the point being asked for */
    struct buf json;    /* parameters being written */
    struct buf payload; /* frame being written */
    uint64_t arrival;   /* of the command being handled */
    const char *code;   /* of the command being handled */
    bool news;          /* the tuner was told something by this command */
    bool closed;
    bool fatal; /* `failure` ends the session */
    struct err *failure;
};

/* Writes and sends the frame that states e's fact. */
void tuning_emit(struct tuning *t, struct emission e);

/* Sends NO: `first` is the request's first id. */
void tuning_no_more(struct tuning *t, uint64_t first, enum no_reason reason,
                    uint64_t units);

/* One line for a mistake that costs this command alone. */
void tuning_complain(struct tuning *t, const char *text);
/* One line about a trial: "trial 'job' (parameter_id 7): text"; late: nothing
 * is wrong, and it is no error. */
void tuning_complain_trial(struct tuning *t, const char *job,
                           const struct parameter_id *id, const char *text,
                           bool late);
/* The tuner failed: by policy this costs its command, or the session. */
void tuning_plugin_failed(struct tuning *t, const struct err *err);
void tuning_out_of_memory(struct tuning *t);
/* Complains and is false before IN. */
bool tuning_has_space(struct tuning *t);

/* tuning_ask.c */
void tuning_request(struct tuning *t, const struct command *cmd);
void tuning_serve_owed(struct tuning *t);
/* tuning_space.c */
void tuning_initialize(struct tuning *t, const struct command *cmd);
void tuning_update(struct tuning *t, const struct command *cmd);
/* tuning_tell.c */
void tuning_metric(struct tuning *t, const struct command *cmd);
void tuning_end(struct tuning *t, const struct command *cmd);
/* Tells the tuner the result of a trial that has none. */
void tuning_tell(struct tuning *t, struct trial *trial, const char *job,
                 struct tp_result *result);
/* tuning_import.c */
void tuning_import(struct tuning *t, const struct command *cmd);
void tuning_custom(struct tuning *t, const struct command *cmd);
/* One element; -1: err tells. */
int tuning_import_one(struct tuning *t, struct jval entry, struct err *err);
/* That element of FD or AD could not be used: costs itself. */
void tuning_refuse_element(struct tuning *t, size_t i, struct err *err);
/* Sends the TR of a suggestion whose parameters t->json holds. */
void tuning_give_out(struct tuning *t, struct parameter_record *record);
/* Notes and tells the tuner an end. */
void tuning_end_trial(struct tuning *t, struct trial *trial,
                      const struct trial_end *end);
/* tuning_restart.c: of a manager of NNI's */
extern const struct reunion_ops tuning_reunion;
/* What the tuner knows the trial by. */
uint64_t tuning_id(const struct tuning *t, const struct trial *trial);
void tuning_ran(struct tuning *t, const char *job, const struct trial *trial);
/* tuning_advise.c: where the tuner is an advisor */
bool tuning_advised(const struct tuning *t);
/* An intermediate result. */
void tuning_report(struct tuning *t, const struct command *cmd);
/* The answer to one that is synchronous. */
void tuning_acknowledge(struct tuning *t, const struct command *cmd);
/* Says what the tuner has decided on other trials meanwhile. */
void tuning_decide(struct tuning *t);
/* t->x was given out under that id of the tuner's. */
void tuning_know(struct tuning *t, uint64_t id);
/* Its trial is that job: what waited for its name is said, unless it is over.
 */
void tuning_name(struct tuning *t, uint64_t id, const char *job, bool over);
/* Its trial has ended, in the manager's words as paused, or not. */
void tuning_over(struct tuning *t, uint64_t id, bool paused);
/* What goes on with the point of another: t->x becomes that. */
void tuning_inherit(struct tuning *t, const struct tuner_terms *terms);
/* What it goes on from, in TR. */
void tuning_write_origin(const struct tuning *t,
                         const struct tuner_terms *terms,
                         struct parameter_record *record);
/* Whether points that may be gone on from are of the search space. */
bool tuning_origins_fit(const struct tuning *t);
/* Nobody goes on from anything that there was. */
void tuning_release_all(struct tuning *t);
/* Whether TR is written as NNI's advisors do. */
bool tuning_is_bare(const struct tuning *t);
/* tuning_space.c: whether doc is the space there is */
bool tuning_same_space(const struct tuning *t, const struct json *doc);
/* False: it was said why, err says it in short, and nothing has changed. */
bool tuning_set_space(struct tuning *t, const struct json *doc,
                      struct err *err);
/* That of an IN.  NNI's managers send no other, and would wait for ever: their
 * session ends. */
void tuning_refuse_space(struct tuning *t, const struct err *why);
void tuning_emit_initialized(struct tuning *t, const struct command *cmd);

#endif

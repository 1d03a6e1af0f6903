/* SPDX-License-Identifier: MIT */
/* proxy_tuner.h - what the files of a tuner's proxy share: proxy_tuner.c (what
 * the manager sends), proxy_tuner_said.c (what the program sends),
 * proxy_tuner_told.c (what the program is told of trials).  Nobody else
 * includes it. */
#ifndef DISPATCHER_PROXY_TUNER_H
#define DISPATCHER_PROXY_TUNER_H

#include "dispatcher/proxy_requests.h"
#include "dispatcher/proxy_state.h"
#include "dispatcher/reunion.h"
#include "dispatcher/trials.h"

enum proxy_space {
    PROXY_BARE,  /* no search space */
    PROXY_ASKED, /* IN is passed on */
    PROXY_READY, /* ID was the answer */
};

struct proxy_tuner {
    struct proxy base;
    enum proxy_space state;
    bool greeting;     /* started again, its ID is still to come */
    uint64_t position; /* of the IN, among the manager's frames */
    struct buf space;  /* as JSON */
    struct trials *trials;
    struct buf results;          /* elements of an FD, to be told again */
    struct proxy_requests owed;  /* NO "later" was their answer; all older */
    struct proxy_requests asked; /* no answer yet */
    uint64_t failed; /* under policy again: units that were refused as failed,
                        for which the manager will not ask again */
    int tries;       /* how often these were asked for while no trial is out */
    uint64_t next_id;
    struct reunion reunion;
    struct buf fresh; /* elements of the FD at hand that are new */
};

/* ---- proxy_tuner.c ---- */

/* A trial that is out, with the parameters in `text`, which is taken; NULL:
 * out of memory, or the id or label is in use. */
struct trial *proxy_tuner_add(struct proxy_tuner *t, uint64_t id,
                              const char *label, uint64_t theirs,
                              struct buf *text);

/* Sends NO: `units` of the request with that first id are refused, or owed. */
void proxy_tuner_no_more(struct proxy_tuner *t, uint64_t first,
                         enum no_reason reason, uint64_t units);

/* Asks again for what has failed, where no answer is due. */
void proxy_tuner_ask_failed(struct proxy_tuner *t);

/* ---- proxy_tuner_said.c ---- */

void proxy_tuner_frame(struct proxy *p, const struct frame *frame);
void proxy_tuner_late(struct proxy *p);
void proxy_tuner_gone(struct proxy *p);
bool proxy_tuner_waits(const struct proxy *p);
size_t proxy_tuner_bytes(const struct proxy *p);
void proxy_tuner_name_due(const struct proxy *p, char *out, size_t size);
uint64_t proxy_tuner_owed(const struct proxy *p);
void proxy_tuner_settle(struct proxy *p);

/* A unit of the oldest request that is owed is served by what was lost. */
void proxy_tuner_serve_lost(struct proxy_tuner *t);

/* ---- proxy_tuner_told.c ---- */

/* Sends open, text, close. */
void proxy_tuner_send(struct proxy_tuner *t, enum command_code code,
                      const char *open, struct buf *text, const char *close);

/* Starts the program again where it is gone, and tells it what it missed. */
void proxy_tuner_restart(struct proxy_tuner *t);

/* Tells it a result: *value, or that of cmd, a metric. */
void proxy_tuner_tell(struct proxy_tuner *t, struct trial *trial,
                      const char *job, const struct command *cmd,
                      const double *value);
/* And an end, which is noted. */
void proxy_tuner_tell_end(struct proxy_tuner *t, struct trial *trial,
                          const struct trial_end *end);
/* An element of FD, which is kept to be told again. */
void proxy_tuner_keep(struct proxy_tuner *t, struct jval entry);

void proxy_tuner_metric(struct proxy_tuner *t, const struct command *cmd);
void proxy_tuner_end(struct proxy_tuner *t, const struct trial_end *end);
void proxy_tuner_import(struct proxy_tuner *t, const struct command *cmd);
void proxy_tuner_custom(struct proxy_tuner *t, const struct command *cmd);

/* ---- proxy_tuner_restart.c: a manager of NNI's ---- */

extern const struct reunion_ops proxy_tuner_reunion;

#endif

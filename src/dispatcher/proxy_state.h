/* SPDX-License-Identifier: MIT */
/* proxy_state.h - what the files behind proxy.h share.  Nobody else includes
 * it. */
#ifndef DISPATCHER_PROXY_STATE_H
#define DISPATCHER_PROXY_STATE_H

#include "core/buf.h"
#include "dispatcher/proxy.h"
#include "dispatcher/proxy_setup.h"
#include "dispatcher/side.h"
#include "json.h"

/* What a tuner's and an assessor's proxy do differently. */
struct proxy_kind {
    enum sender sender;
    void (*command)(struct proxy *p, const struct command *cmd);
    void (*frame)(struct proxy *p, const struct frame *frame);
    void (*late)(struct proxy *p);
    void (*gone)(struct proxy *p);
    void (*settle)(struct proxy *p); /* what its word, silence or end has left
                                        to be done; NULL: nothing */
    bool (*waits)(const struct proxy *p);
    size_t (*bytes)(const struct proxy *p);
    void (*name_due)(const struct proxy *p, char *out, size_t size);
    uint64_t (*owed)(const struct proxy *p); /* NULL: never any */
    void (*see)(const struct proxy *p, struct tuning_view *out,
                const struct viewer *viewer); /* NULL: nothing to be seen */
    void (*free)(struct proxy *p);
};

/* The first member of either. */
struct proxy {
    struct side side;
    const struct proxy_kind *kind;
    const struct proxy_setup *setup;
    const struct policy *policy;
    struct emitter emitter;
    struct proxy_port port;
    const struct log *log;
    struct buf payload; /* of the frame being written */
    size_t longest;     /* payload that the manager can be sent */
    uint64_t arrival;   /* of the input being handled */
    const char *input;  /* what it is: "command 7 (GE)" without the number */
    char its[8];        /* that, of a frame of the program: "its TR" */
    char said[500];     /* of one that is required, its last ER before its
                           first ID; "": none */
    bool ready;         /* it has sent an ID */
    bool gone;          /* there is no program */
    bool ended;         /* a failure ended this side */
    bool fatal;         /* `failure` ends the session */
    struct err *failure;
};

void proxy_init(struct proxy *p, const struct proxy_kind *kind,
                const struct proxy_setup *setup, const struct policy *policy,
                struct emitter emitter, const struct log *log);
void proxy_fini(struct proxy *p);

/* Writes the frame that states e's fact into p->payload; false: out of memory,
 * and it was said. */
bool proxy_encode(struct proxy *p, struct emission *e);
/* Writes it as proxy_encode() does, and sends it to the manager. */
void proxy_emit(struct proxy *p, struct emission e);
/* What p->payload holds, to the program. */
void proxy_send(struct proxy *p, enum command_code code);

/* One line for a mistake of the manager's, which costs its command alone. */
void proxy_complain(struct proxy *p, const char *text);
/* One line about a trial: "trial 'job' (parameter_id 7): text"; late: nothing
 * is wrong, and it is no error. */
void proxy_complain_trial(struct proxy *p, const char *job,
                          const struct parameter_id *id, const char *text,
                          bool late);
/* The program failed: by policy this costs its input, or the session. */
void proxy_failed(struct proxy *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void proxy_out_of_memory(struct proxy *p);
/* Passes an ER on to people: a failure like others.  Before the first ID of one
 * that is required it is kept: it says why there will be none. */
void proxy_says(struct proxy *p, const struct frame *frame);

/* Starts the program again where it is gone; whether it was. */
bool proxy_restart(struct proxy *p);

/* Pieces of p->payload: "key": "text" and "key": value. */
void proxy_write_text(struct proxy *p, const char *key, const char *text);
/* The `value` of the metric that is being handled, as the text it came as, or
 * that it would be; one that is no number as "NaN". */
void proxy_write_value(struct proxy *p, const struct command *cmd);

#endif

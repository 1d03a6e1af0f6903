/* SPDX-License-Identifier: MIT */
/* proxy.h - a side of the dispatcher whose tuner or assessor is a program that
 * speaks the protocol itself (`exec`).  PROTOCOL.md, "Programs".
 *
 * It takes the place of tuning or assessing, but waits for nobody: what the
 * manager sends becomes frames for the program; what the program sends, and
 * what becomes of it, is input like the manager's, numbered and logged before
 * it is handled.  All answers follow from these inputs in their order, so that
 * replay needs no program.
 *
 * What it does as a side is in side.h. */
#ifndef DISPATCHER_PROXY_H
#define DISPATCHER_PROXY_H

#include "core/buf.h"
#include "dispatcher/emission.h"
#include "dispatcher/policy.h"
#include "dispatcher/side.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct log;
struct proxy;
struct proxy_setup;

/* Where the program is.  Replay has none. */
struct proxy_port {
    void (*send)(void *ctx, enum command_code code, const char *payload,
                 size_t len); /* copies */
    void (*start)(void *ctx); /* anew, behind SIDE_GONE */
    void *ctx;
};

/* Borrow all until side_free(); NULL: out of memory. */
struct proxy *proxy_tuner_new(const struct proxy_setup *setup,
                              const struct policy *policy,
                              struct emitter emitter, const struct log *log,
                              struct err *err);
struct proxy *proxy_assessor_new(const struct proxy_setup *setup,
                                 const struct policy *policy,
                                 struct emitter emitter, const struct log *log,
                                 struct err *err);

void proxy_connect(struct proxy *p, struct proxy_port port);

/* The longest payload that fits into the manager's frames; what the program
 * makes longer costs itself. */
void proxy_limit(struct proxy *p, size_t longest);

/* Which answer the program owes, while side_waits(): "ID, or NO, for IN". */
void proxy_name_due(const struct proxy *p, char *out, size_t size);

/* What of the manager's waits for an answer, in bytes. */
size_t proxy_bytes(const struct proxy *p);

const struct proxy_setup *proxy_setup(const struct proxy *p);

/* ---- the base of a tuner's and an assessor's proxy, for them alone ---- */

/* What a tuner's and an assessor's proxy do differently. */
struct proxy_kind {
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
    struct proxy_port port;
    size_t longest; /* payload that the manager can be sent */
    char its[8];    /* the input being handled, a program's frame: "its TR" */
    char said[500]; /* of one that is required, its last ER before its first
                       ID; "": none */
    bool ready;     /* it has sent an ID */
    bool gone;      /* there is no program */
    bool ended;     /* a failure ended this side */
};

void proxy_init(struct proxy *p, const struct proxy_kind *kind,
                enum sender sender, const struct proxy_setup *setup,
                const struct policy *policy, struct emitter emitter,
                const struct log *log);
void proxy_fini(struct proxy *p);

/* Sends the program what the side's payload holds. */
void proxy_send(struct proxy *p, enum command_code code);
/* Sends the program the end of a trial, whose hyper_params are those, JSON. */
void proxy_send_end(struct proxy *p, const struct trial_end *end,
                    struct buf *hyper);

/* The program failed: by policy this costs its input, or the session. */
void proxy_failed(struct proxy *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Passes an ER on to people: a failure like others.  Before the first ID of one
 * that is required it is kept: it says why there will be none. */
void proxy_says(struct proxy *p, const struct frame *frame);

/* Starts the program again where it is gone; whether it was. */
bool proxy_restart(struct proxy *p);

/* Opens an object {"parameter_id": ... */
struct json_writer proxy_open_parameter(const struct parameter_id *id,
                                        struct buf *out);
/* Opens {"parameter_id": ..., "trial_job_id": ... in p->side.payload, which is
 * cleared. */
struct json_writer proxy_open_ids(struct proxy *p,
                                  const struct parameter_id *id,
                                  const char *job);
/* Appends the `value` of the metric that is being handled, as the text it came
 * as, or that it would be; one that is no number as "NaN". */
void proxy_write_value(const struct command *cmd, struct buf *out);

#endif

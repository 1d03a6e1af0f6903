/* SPDX-License-Identifier: MIT */
/* proxy.h - a side of the dispatcher whose tuner or assessor is a program that
 * speaks the protocol itself (`exec`).  PROTOCOL.md, "Programs".
 *
 * It takes the place of tuning or assessing, but never waits for an answer:
 * what the manager sends becomes frames for the program; what the program
 * sends, and its start and end, is input like the manager's, numbered and
 * logged before it is handled.  All answers follow from these inputs in their
 * order, so that replay needs no program.  Its functions as a side are those of
 * side.h. */
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

/* How a proxy reaches its program; replay has none. */
struct proxy_port {
    void (*send)(void *ctx, enum command_code code, const char *payload,
                 size_t len); /* copies */
    void (*start)(void *ctx); /* starts it again behind SIDE_GONE */
    void *ctx;
};

/* Make the proxy of a tuner or an assessor; borrow all until side_free().
 * NULL: out of memory. */
struct proxy *proxy_tuner_new(const struct proxy_setup *setup,
                              const struct policy *policy,
                              struct emitter emitter, const struct log *log,
                              struct err *err);
struct proxy *proxy_assessor_new(const struct proxy_setup *setup,
                                 const struct policy *policy,
                                 struct emitter emitter, const struct log *log,
                                 struct err *err);

void proxy_connect(struct proxy *p, struct proxy_port port);

/* Sets the longest payload that fits into the manager's frames; a longer answer
 * of the program costs its input. */
void proxy_limit(struct proxy *p, size_t longest);

/* Which answer the program owes while side_waits() is true, for people: "ID, or
 * NO, for IN". */
void proxy_name_due(const struct proxy *p, char *out, size_t size);

/* Bytes of the manager's commands that the program has not answered. */
size_t proxy_bytes(const struct proxy *p);

const struct proxy_setup *proxy_setup(const struct proxy *p);

/* ---- the base of a tuner's and an assessor's proxy, for them alone ---- */

/* What a tuner's and an assessor's proxy do differently. */
struct proxy_kind {
    void (*command)(struct proxy *p, const struct command *cmd);
    void (*frame)(struct proxy *p, const struct frame *frame);
    void (*late)(struct proxy *p);
    void (*gone)(struct proxy *p);
    /* after each input: does what a program's frame, silence or end leaves to
     * be done; NULL: nothing */
    void (*settle)(struct proxy *p);
    bool (*waits)(const struct proxy *p);
    size_t (*bytes)(const struct proxy *p);
    void (*name_due)(const struct proxy *p, char *out, size_t size);
    uint64_t (*owed)(const struct proxy *p); /* NULL: never any */
    void (*see)(const struct proxy *p, struct tuning_view *out,
                const struct viewer *viewer); /* see side_see(); may be NULL */
    void (*free)(struct proxy *p);
};

/* What the proxies of a tuner and of an assessor begin with. */
struct proxy {
    struct side side;
    const struct proxy_kind *kind;
    const struct proxy_setup *setup;
    struct proxy_port port;
    size_t longest; /* longest payload that the manager can be sent */
    char its[8];    /* name of the frame being handled: "its TR" */
    char said[500]; /* of a required program, its last ER before its first ID;
                       "": none */
    bool ready;     /* the program has sent an ID */
    bool gone;      /* no program runs */
    bool ended;     /* a failure of the program ended this side, and with it
                       the session: it takes in nothing that comes later */
};

void proxy_init(struct proxy *p, const struct proxy_kind *kind,
                enum sender sender, const struct proxy_setup *setup,
                const struct policy *policy, struct emitter emitter,
                const struct log *log);
void proxy_fini(struct proxy *p);

/* Sends the program a frame whose payload is that of the side. */
void proxy_send(struct proxy *p, enum command_code code);
/* Sends the program the end of a trial; `hyper` is its hyper_params, JSON. */
void proxy_send_end(struct proxy *p, const struct trial_end *end,
                    struct buf *hyper);

/* Tells that the program failed: by policy this costs its input, or the
 * session. */
void proxy_failed(struct proxy *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Tells people what the program says in an ER, which is a failure like others.
 * What a required one says before its first ID is kept: it tells why there will
 * be none. */
void proxy_says(struct proxy *p, const struct frame *frame);

/* Starts the program again where none runs; returns whether it did. */
bool proxy_restart(struct proxy *p);

/* Opens an object {"parameter_id": ID. */
struct json_writer proxy_open_parameter(const struct parameter_id *id,
                                        struct buf *out);
/* Clears p->side.payload, and opens {"parameter_id": ID, "trial_job_id": JOB in
 * it. */
struct json_writer proxy_open_ids(struct proxy *p,
                                  const struct parameter_id *id,
                                  const char *job);
/* Appends the value of the metric that is being handled, as the text in which
 * it came, or would have come; "NaN" where it is no number. */
void proxy_write_value(const struct command *cmd, struct buf *out);

#endif

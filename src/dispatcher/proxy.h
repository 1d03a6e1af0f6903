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

#include "dispatcher/emission.h"
#include "dispatcher/policy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct log;
struct proxy;
struct proxy_setup;
struct side;

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

/* Its side. */
struct side *proxy_side(struct proxy *p);

/* Which answer the program owes, while side_waits(): "ID, or NO, for IN". */
void proxy_name_due(const struct proxy *p, char *out, size_t size);

/* What of the manager's waits for an answer, in bytes. */
size_t proxy_bytes(const struct proxy *p);

const struct proxy_setup *proxy_setup(const struct proxy *p);

#endif

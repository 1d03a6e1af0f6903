/* SPDX-License-Identifier: MIT */
/* resend.h - what a manager may never have read: each TR whose trial was
 * neither started (NT) nor ended (EN), each KI, and each DT that is to pause
 * or finish one, whose trial has not ended.
 * PROTOCOL.md, "Extensions".  The router's alone. */
#ifndef DISPATCHER_RESEND_H
#define DISPATCHER_RESEND_H

#include "core/buf.h"
#include "core/map.h"
#include "dispatcher/emission.h"

#include <stdbool.h>

struct unpack;

struct resend {
    struct map by_key;             /* struct emission */
    struct emission *first, *last; /* in the order in which they were written */
    size_t trials;                 /* TR among them */
    struct buf key;                /* being looked for */
    bool failed;                   /* out of memory */
};

void resend_init(struct resend *r);
void resend_fini(struct resend *r);

/* A frame was written (or stands in the log); copied when it is kept. */
void resend_written(struct resend *r, const struct emission *e);

/* A command came from the manager. */
void resend_command(struct resend *r, const struct command *cmd);

/* As pack.h: into an empty one, -1: damaged, or out of memory. */
void resend_save(const struct resend *r, struct buf *out);
int resend_load(struct resend *r, struct unpack *in);

#endif

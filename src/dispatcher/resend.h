/* SPDX-License-Identifier: MIT */
/* resend.h - the frames that a manager may never have read, to be sent again
 * when the session is resumed: each TR whose trial was neither started (NT) nor
 * ended (EN), each KI, and each DT that is to pause or finish a trial, until
 * that has ended. PROTOCOL.md, "Extensions".  The router's alone. */
#ifndef DISPATCHER_RESEND_H
#define DISPATCHER_RESEND_H

#include "core/buf.h"
#include "core/map.h"
#include "dispatcher/emission.h"

#include <stdbool.h>

struct unpack;

struct resend {
    struct map by_key; /* "T" or "K", ... and an id: make_key() -> struct
                          emission */
    /* The frames, in the order in which they were written. */
    struct emission *first, *last;
    size_t trials;  /* how many of them are TR */
    struct buf key; /* the key at work */
    bool failed;    /* out of memory */
};

void resend_init(struct resend *r);
void resend_fini(struct resend *r);

/* An outbound frame was written (or stands in the log): keeps a copy where the
 * manager may have to be sent it again. */
void resend_written(struct resend *r, const struct emission *e);

/* A command came from the manager: drops the frames that it shows to have been
 * read. */
void resend_command(struct resend *r, const struct command *cmd);

/* Packs it, and reads it into an empty one, as pack.h says; -1: damaged, or out
 * of memory. */
void resend_save(const struct resend *r, struct buf *out);
int resend_load(struct resend *r, struct unpack *in);

#endif

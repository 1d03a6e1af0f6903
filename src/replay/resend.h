/* SPDX-License-Identifier: MIT */
/* resend.h - what a manager may never have read, from a log: each TR whose
 * trial was neither started (NT) nor ended (EN), each KI whose trial has not
 * ended.  PROTOCOL.md, "Extensions".  One thread. */
#ifndef REPLAY_RESEND_H
#define REPLAY_RESEND_H

#include "core/map.h"
#include "dispatcher/emission.h"

#include <stdbool.h>

struct record;

struct resend {
    struct map by_key;           /* struct resent */
    struct resent *first, *last; /* in the order of the log */
    size_t trials;               /* TR among them */
    bool failed;                 /* out of memory */
};

struct resent {
    struct resent *older, *newer;
    char *key;
    struct emission emission; /* payload lies in text[] */
    char text[];
};

/* A zeroed struct resend is empty. */
void resend_fini(struct resend *r);

/* Takes the next record of the log in. */
void resend_record(struct resend *r, const struct record *record);

#endif

/* SPDX-License-Identifier: MIT */
/* calls_around.h - what surrounds the call of a callback; for calls*.c. */
#ifndef CHECK_CALLS_AROUND_H
#define CHECK_CALLS_AROUND_H

#include <stdint.h>

struct calls;

/* Notes what is being called, should it not come back; id: TP_NO_ID for
 * none. */
void calls_enter(struct calls *c, const char *callback, uint64_t id);

/* Looks at the surroundings and at how the host's services were used. */
void calls_leave(struct calls *c, const char *callback);

/* rc is TP_OK, or TP_ERR with its reason, which is what is wrong. */
void calls_expect_ok(struct calls *c, const char *callback, int rc);

#endif

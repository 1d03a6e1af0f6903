/* SPDX-License-Identifier: MIT */
/* errand.h - a thread that does one kind of work when it is asked to, so that
 * a slow disk does not hold up the loop.
 *
 * One errand at a time.  What it works on belongs to the thread from
 * errand_ask() until errand_take() says true, and to the caller otherwise: it
 * needs no lock of its own.  All calls come from one thread. */
#ifndef CORE_ERRAND_H
#define CORE_ERRAND_H

#include <stdbool.h>

struct err;
struct errand;
struct wake;

/* What the thread does each time it is asked. */
typedef void errand_work(void *ctx);

/* `wake` is signalled when an errand is done.  Both are borrowed. */
struct errand *errand_start(errand_work *work, void *ctx,
                            const struct wake *wake, struct err *err);
/* Ends the thread, after the errand that it is at. */
void errand_stop(struct errand *e);

/* Begins an errand; none is under way. */
void errand_ask(struct errand *e);
/* True, once, when the errand is done. */
bool errand_take(struct errand *e);

#endif

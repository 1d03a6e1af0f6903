/* SPDX-License-Identifier: MIT */
/* fakehost.h - what a plugin sees while it is checked: a host from the
 * future (its structs are longer than the headers say), which lends memory
 * for exactly as long as it promises and frees it then, so that a sanitizer
 * notices who keeps a pointer or looks behind an end. */
#ifndef CHECK_FAKEHOST_H
#define CHECK_FAKEHOST_H

#include "tunepipe/plugin.h"

#include <stdbool.h>
#include <stdint.h>

struct demands;
struct err;
struct plugin;
struct space;
struct arguments;
struct fake_host;

/* `wants_to_know`: what host->explain() returns.  NULL when out of memory. */
struct fake_host *fake_host_new(uint64_t seed, bool wants_to_know);
void fake_host_free(struct fake_host *h);

const struct tp_host *fake_host_services(const struct fake_host *h);

/* What was said with host->error() since the last call of this; "". */
const char *fake_host_error(struct fake_host *h);

/* What was wrong with a call of a service; NULL: nothing was. */
const char *fake_host_fault(const struct fake_host *h);

/* From now on each call of a callback may call the services for points and
 * numbers at most `most` times; beyond, over(ctx) is called, and should not
 * return. */
void fake_host_limit(struct fake_host *h, uint64_t most, void (*over)(void *),
                     void *ctx);

/* A callback is about to be called: counts from 0 again. */
void fake_host_enter(struct fake_host *h);

/* Whether no point may be given to host->key() (TP_ERR is its answer). */
void fake_host_forgive(struct fake_host *h, bool forgives);

/* The plugin's demands by host->extra() and host->decide(). */
struct demands *fake_host_demands(struct fake_host *h);

/* The dimensions of `space` as a plugin sees them, to be freed with
 * fake_space_free() once the plugin may no longer look at them; host->sample()
 * samples from `space` from now on. */
struct tp_space *fake_host_space(struct fake_host *h,
                                 const struct space *space);
void fake_space_free(struct tp_space *s);

/* The plugin's arguments with its defaults; those the user would have to give
 * are made up, unless `given` is a JSON object (else NULL).  NULL: err tells
 * all that is wrong with them. */
struct arguments *fake_arguments(const struct plugin *p, const char *given,
                                 struct err *err);

#endif

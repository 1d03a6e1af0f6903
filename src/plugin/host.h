/* SPDX-License-Identifier: MIT */
/* host.h - the services one plugin object is lent (struct tp_host).
 *
 * Random numbers are functions of the object's seed: nothing here is drawn
 * in an order.  error and log may be called by any thread; the rest, and the
 * functions below, by the thread that calls the plugin. */
#ifndef PLUGIN_HOST_H
#define PLUGIN_HOST_H

#include "tunepipe/plugin.h"

#include <stdbool.h>
#include <stdint.h>

struct err;
struct host;
struct log;
struct space;
struct demands;

/* Makes the services for an object.  `title` ("tuner random") begins its log
 * lines, `purpose` is an enum random_purpose.  `log` is borrowed and may be
 * NULL.  NULL when out of memory. */
struct host *host_new(const char *title, uint64_t seed, uint32_t purpose,
                      const struct log *log, struct err *err);
void host_free(struct host *h);

const struct tp_host *host_services(const struct host *h);

/* Sets the space, borrowed, on which host->sample(), value(), key() and
 * element() work; NULL: none (x stays as it is). */
void host_set_space(struct host *h, const struct space *space);

/* Is told what the plugin says with host->explain(): `title` is the object's,
 * `text` lent for the call. */
struct host_listener {
    void (*said)(void *ctx, const char *title, const char *text);
    void *ctx;
};
/* Sets the listener, borrowed; NULL, as at first: none. */
void host_listen(struct host *h, const struct host_listener *listener);

/* The plugin's demands by host->extra() and host->decide(). */
struct demands *host_demands(struct host *h);

/* Forgets what was said with host->error(); called before each call of the
 * plugin. */
void host_clear_error(struct host *h);

/* Whether host->error() was called since. */
bool host_has_error(struct host *h);

/* Fills err (ERR_PLUGIN) with "TITLE: CALLBACK: what the plugin said" and
 * returns -1. */
int host_tell_error(struct host *h, const char *callback, struct err *err);

#endif

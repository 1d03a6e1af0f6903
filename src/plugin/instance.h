/* SPDX-License-Identifier: MIT */
/* instance.h - a live plugin object: what tuners, assessors and
 * filters have in common.  For tuner.c, assessor.c and filter.c. */
#ifndef PLUGIN_INSTANCE_H
#define PLUGIN_INSTANCE_H

#include "json.h"
#include "plugin/loader.h"

#include <stdint.h>

struct arguments;
struct buf;
struct err;
struct host;
struct log;
struct plugin_paths;

struct instance {
    char title[96]; /* "tuner random" */
    struct plugin *plugin;
    struct arguments *args;
    struct host *host;
    uint64_t seed; /* the seed in use */
    void *self;
    double *lent; /* room for a copy of the point that a callback is lent */
    size_t n_lent;
};

/* Loads the plugin, checks the arguments, calls create and config.  -1: err
 * tells why (ERR_CONFIG, every problem of the arguments in it, or ERR_PLUGIN),
 * and instance_close() is still to be called.  *i is zeroed first. */
int instance_open(struct instance *i, const struct plugin_paths *paths,
                  enum plugin_kind kind, const char *name, struct jval args,
                  uint64_t seed, const struct log *log, struct err *err);
void instance_close(struct instance *i);

/* Stand around each call of a callback.  instance_leave() returns rc when it is
 * one of 0..most; else -1, and err tells what the plugin said, or that it
 * returned something else (ERR_PLUGIN). */
void instance_enter(struct instance *i);
int instance_leave(struct instance *i, const char *callback, int rc, int most,
                   struct err *err);

/* Lend a callback a copy of a point, so that nothing it does can reach the
 * host's: make room for points of n_dims (-1: out of memory); the copy, lent
 * until the next one; and behind the call rc, or -1 when the copy was written
 * to (ERR_PLUGIN). */
int instance_reserve(struct instance *i, size_t n_dims, struct err *err);
const double *instance_lend(struct instance *i, const double *x, size_t n_dims);
int instance_take_back(const struct instance *i, const char *callback, int rc,
                       const double *x, size_t n_dims, struct err *err);

/* Appends the instance as JSON: {"name": "random", "version": 1, "file":
 * "random.so", "seed": 7, "arguments": {...}}. */
void instance_describe(const struct instance *i, struct buf *out);

#endif

/* SPDX-License-Identifier: MIT */
/* proxy_setup.h - the arguments of `exec`: which program, and for how long it
 * may be silent.  Immutable once read. */
#ifndef DISPATCHER_PROXY_SETUP_H
#define DISPATCHER_PROXY_SETUP_H

#include "json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arguments;
struct buf;
struct err;
struct tp_arg;

/* raised when a proxy answers the same inputs differently */
#define PROXY_VERSION 1

struct proxy_setup {
    char *words;       /* the command's words, each with its NUL */
    const char **argv; /* into `words`, ends with NULL */
    int64_t deadline_ms;
    uint64_t seed;
    /* A program that ends before its first ID ends the session. */
    bool required;
    char title[96]; /* "tuner exec (python3 tuner.py)" */
    struct arguments *args;
};

/* Whether a tuner or assessor of this name is a program. */
bool proxy_is_named(const char *name);

/* The argument table of `exec`, as `tunepipe tuners` lists it; *n entries. */
const struct tp_arg *proxy_arguments(size_t *n);

/* Reads the arguments of a program; `kind` is "tuner" or "assessor"; `args` an
 * object or null, in which `command` is a list of words, or a text of words
 * with spaces between.  The seed is used where `args` has none.  NULL: err
 * names the argument. */
struct proxy_setup *proxy_setup_read(const char *kind, struct jval args,
                                     uint64_t seed, struct err *err);
void proxy_setup_free(struct proxy_setup *s);

/* Appends the setup as the log's head has it: {"name": "exec", "version": 1,
 * "seed": 7, "arguments": {...}}. */
void proxy_setup_write(const struct proxy_setup *s, struct buf *out);

#endif

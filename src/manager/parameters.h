/* SPDX-License-Identifier: MIT */
/* parameters.h - the payload of a TR taken apart, and a set of parameters in
 * the forms a trial and a person read.  No I/O.  One thread. */
#ifndef MANAGER_PARAMETERS_H
#define MANAGER_PARAMETERS_H

#include "json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct space;

/* How a trial goes on from another one, by the tuner's word; see origin.h. */
enum origin_how { ORIGIN_NONE, ORIGIN_PROMOTED, ORIGIN_CLONED };

struct origin {
    enum origin_how how;
    uint64_t from; /* the number of the trial that it goes on from */
    bool tried; /* copying.h has copied the checkpoint beforehand, or failed, or
                   need not */
    bool settled; /* the other trial's checkpoint need not stay for it any more
                   */
};

/* "promoted" or "cloned"; of ORIGIN_NONE "". */
const char *origin_word(enum origin_how how);

/* The origin that a TR names; what is not understood is none. */
struct origin origin_read(struct jval record);

/* The payload of a TR. */
struct suggestion {
    struct json *doc;
    char *id;         /* JSON text of parameter_id: a number or a string */
    char *parameters; /* JSON text, one line */
    struct origin origin;
};

/* The budget in a set of parameters, TRIAL_BUDGET, when it is a positive
 * number; else 0. */
double parameters_budget(struct jval parameters);

/* Whether a tuner tells its trials a folder by this name, as pbt does, which
 * nobody looks for among the parameters in a line. */
bool parameters_is_folder(const char *name);

int suggestion_read(const char *text, size_t len, struct suggestion *out,
                    struct err *err);
void suggestion_fini(struct suggestion *r);

/* Parses the search space of an experiment, JSON; NULL: it is none, which
 * others tell. */
struct space *parameters_space(const char *search_space);

/* Appends the parameters of a user, of which some may be missing, as JSON with
 * those that the seed draws in their place; see space_complete().  Values that
 * are given stay as they are, rounded to the type's step and bounds.  Returns
 * 0, or -1 with the problem in err. */
int parameters_complete(const struct space *space, struct jval given,
                        uint64_t seed, struct buf *out, struct err *err);

/* A set of parameters as trials are given them: see space_write_given(). */
struct json *parameters_given(const struct space *space, struct jval parameters,
                              struct err *err);

/* Calls `each` for each value of a set of parameters, flattened as
 * trial/files.h says for parameters.tsv; `name` is borrowed during the call.
 * What is no object has no values.  -1: out of memory. */
typedef void parameters_each(void *ctx, const char *name, struct jval value);
int parameters_walk(struct jval parameters, parameters_each *each, void *ctx,
                    struct err *err);

/* Calls `visit` for each value as a text, which is not escaped and may hold NUL
 * bytes.  -1: out of memory. */
typedef void parameters_visit(void *ctx, const char *name, const char *value,
                              size_t len);
int parameters_flatten(struct jval parameters, parameters_visit *visit,
                       void *ctx, struct err *err);

/* Appends the text of parameters.tsv. */
int parameters_write_tsv(struct jval parameters, struct buf *out,
                         struct err *err);

/* The seed of a trial, made of the experiment's seed and its parameter_id. */
uint64_t parameters_seed(uint64_t experiment_seed, const char *parameter_id);

#endif

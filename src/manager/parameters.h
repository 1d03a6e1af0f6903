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

/* What a trial goes on from, by the tuner's word; see origin.h. */
enum origin_how { ORIGIN_NONE, ORIGIN_PROMOTED, ORIGIN_CLONED };

struct origin {
    enum origin_how how;
    uint64_t from; /* the other trial's number */
    bool tried;    /* to copy what it has saved: copying.h */
    bool settled;  /* it need not stay any more */
};

/* "promoted", "cloned"; NONE: "". */
const char *origin_word(enum origin_how how);

/* Of a TR; what is not understood is no origin. */
struct origin origin_read(struct jval record);

struct suggestion {
    struct json *doc;
    char *id;         /* JSON text of parameter_id: a number or a string */
    char *parameters; /* JSON text, one line */
    struct origin origin;
};

/* TRIAL_BUDGET of a set of parameters, when it is a positive number; else 0. */
double parameters_budget(struct jval parameters);

int suggestion_read(const char *text, size_t len, struct suggestion *out,
                    struct err *err);
void suggestion_fini(struct suggestion *r);

/* One value, flattened as trial/files.h says for parameters.tsv; `name` is
 * borrowed during the call. */
typedef void parameters_each(void *ctx, const char *name, struct jval value);
/* -1: out of memory.  What is no object has no values. */
int parameters_walk(struct jval parameters, parameters_each *each, void *ctx,
                    struct err *err);

/* The same as text; `value` is not escaped and may hold NUL bytes. */
typedef void parameters_visit(void *ctx, const char *name, const char *value,
                              size_t len);
/* -1: out of memory. */
int parameters_flatten(struct jval parameters, parameters_visit *visit,
                       void *ctx, struct err *err);

/* Appends the text of parameters.tsv. */
int parameters_write_tsv(struct jval parameters, struct buf *out,
                         struct err *err);

/* The seed of a trial: of the experiment's and its parameter_id. */
uint64_t parameters_seed(uint64_t experiment_seed, const char *parameter_id);

#endif

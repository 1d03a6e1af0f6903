/* SPDX-License-Identifier: MIT */
/* import.h - finished trials out of other programs' files, as lines for
 * manager/imports.h.  What is not understood is counted by its reason and
 * listed, never guessed.  One thread. */
#ifndef IMPORT_IMPORT_H
#define IMPORT_IMPORT_H

#include "core/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct sql;

#define IMPORT_REASONS_MAX 64
#define IMPORT_TEXT_MAX ((size_t)1 << 30)

/* Which way a search went. */
enum import_way { IMPORT_UNSAID, IMPORT_MINIMIZE, IMPORT_MAXIMIZE };

struct import_options {
    const char *value; /* CSV: the column, default "value"; Optuna: the number
                          of the objective; may be NULL: of several all */
    const char *study; /* Optuna's; NULL: the only one */
    const struct sql *(*sql)(struct err *err); /* asked for when needed */
};

struct import {
    const struct import_options *options;
    const char *source; /* being read */
    struct buf lines;
    uint64_t n, n_left; /* trials taken, and not */
    struct {
        char text[160];
        uint64_t n;
    } reasons[IMPORT_REASONS_MAX]; /* the last also has what found no room */
    size_t n_reasons;
};

void import_init(struct import *im, const struct import_options *options);
void import_fini(struct import *im);

/* Reads one more source: NNI's database or the folder of an experiment of
 * NNI's, Optuna's database or journal, CSV. */
int import_source(struct import *im, const char *path, struct err *err);

/* ---- for the readers ---- */

#define IMPORT_VALUES_MAX 8 /* of one trial */

struct import_trial {
    struct buf *parameters; /* members of the object, without its braces */
    double value;
    enum import_way way;
    const char *name; /* of the trial, for people */
    /* Of several objectives, in the place of `value` and `way`; 0: of one. */
    size_t n_values;
    const double *values;
    const enum import_way *ways;
};

void import_take(struct import *im, const struct import_trial *t);
void import_leave(struct import *im, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Appends `"NAME": ` behind what there is. */
void import_name(struct buf *parameters, const char *name);

int import_csv(struct import *im, const char *text, struct err *err);
int import_optuna_journal(struct import *im, const char *text, struct err *err);
/* The file is a database of SQLite's. */
int import_database(struct import *im, const char *path, struct err *err);

#endif

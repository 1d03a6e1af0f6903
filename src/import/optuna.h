/* SPDX-License-Identifier: MIT */
/* optuna.h - what Optuna's two storages have in common.  Inside src/import
 * only. */
#ifndef IMPORT_OPTUNA_H
#define IMPORT_OPTUNA_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct buf;
struct err;
struct import;

/* Appends a parameter: `internal` is a number, or an index into the choices of
 * `distribution`, which is Optuna's JSON.  False: it is of a kind that is not
 * known, and is listed so. */
bool optuna_add(struct import *im, struct buf *parameters, const char *name,
                double internal, const char *distribution);

/* The objective that --value names, of one 0 without; OPTUNA_ALL: there are
 * several and none is named; -1: it is no number, or not one of `n`, or these
 * are too many: the trials are left out. */
#define OPTUNA_ALL INT_MAX
int optuna_objective(const struct import *im, uint64_t n);

/* -1: there are `n` studies of the name that is asked for, or at all, where one
 * was expected. */
int optuna_no_study(const struct import *im, uint64_t n, struct err *err);

#endif

/* SPDX-License-Identifier: MIT */
/* rows.h - what is known of an experiment, as rows of the database: the facts
 * of its history, a line of results.jsonl, the files that describe it.  The
 * order of the files does not matter, nor whether a fact or a line is told
 * twice.  One thread. */
#ifndef STORE_ROWS_H
#define STORE_ROWS_H

#include "core/map.h"
#include "json.h"
#include "manager/pareto.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct history_fact;
struct history_reader;

struct rows {
    struct store *store;
    struct map names;  /* of the parameters in the database */
    struct map values; /* names of values of results there */
    bool new_names;    /* some came since rows_init(), which v_trials lacks */
    struct objectives *objectives; /* NULL: results are one number */
    struct pareto front;           /* then: of points their trials */
    bool keeps_front;              /* what leaves the front does so there */
    int front_rc;                  /* -1: that failed */
};

/* Reads the names of parameters and values that the database has, and, for an
 * experiment with objectives, the front. */
int rows_init(struct rows *r, struct store *s, const char *folder,
              struct err *err);
void rows_fini(struct rows *r);

/* Writes a fact, the last one that `h` has given. */
int rows_add_fact(struct rows *r, const struct history_fact *fact,
                  const struct history_reader *h, struct err *err);

/* Writes line `number` of results.jsonl, from 1.  1: the line is damaged, and
 * has no row. */
int rows_add_result(struct rows *r, const char *line, size_t len,
                    int64_t number, struct err *err);

/* Writes experiment.json, config.yml, search_space.json and summary.json. */
int rows_set_experiment(struct rows *r, const char *folder, struct err *err);

/* A member of an object as a value: null when it is absent, or not of that
 * type.  Texts are the document's. */
struct store_value rows_text(struct jval object, const char *key);

#endif

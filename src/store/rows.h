/* SPDX-License-Identifier: MIT */
/* rows.h - what is known of an experiment, as rows of the database: the facts
 * of its history, a line of results.jsonl, the files that describe it.  The
 * order of the files does not matter, nor whether a fact or a line is told
 * twice.  One thread. */
#ifndef STORE_ROWS_H
#define STORE_ROWS_H

#include "core/map.h"
#include "json.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct history_fact;
struct history_reader;

struct rows {
    struct store *store;
    struct map names; /* of parameters, those that are in the database */
    bool new_names;   /* since rows_init(): v_trials lacks them */
};

/* The names that the database has. */
int rows_init(struct rows *r, struct store *s, struct err *err);
void rows_fini(struct rows *r);

/* A fact that `h` gave last. */
int rows_add_fact(struct rows *r, const struct history_fact *fact,
                  const struct history_reader *h, struct err *err);

/* Line `number` of results.jsonl, from 1.  1: it is damaged, and has no
 * row. */
int rows_add_result(struct rows *r, const char *line, size_t len,
                    int64_t number, struct err *err);

/* experiment.json, config.yml, search_space.json, summary.json. */
int rows_set_experiment(struct rows *r, const char *folder, struct err *err);

/* A member of an object as a value: null when it is absent, or not of that
 * type.  Texts are the document's. */
struct store_value rows_text(struct jval object, const char *key);

#endif

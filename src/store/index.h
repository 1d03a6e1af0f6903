/* SPDX-License-Identifier: MIT */
/* index.h - results.db in an experiment's folder: a view of its files that can
 * be thrown away at any time.  Who updates it holds the folder's lock
 * (flock(2) of the folder itself), and one transaction holds the rows and how
 * far the files were read, so that a death costs what was not committed.
 * One thread. */
#ifndef STORE_INDEX_H
#define STORE_INDEX_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct index;
struct sql;

#define INDEX_FILE "results.db"

enum index_how {
    INDEX_ADD,   /* what is new; all of it when there is no database, or one
                    of another version or of other files */
    INDEX_CHECK, /* the same, and a damaged one is built anew */
    INDEX_ANEW,  /* all of it */
};

struct index_report {
    bool anew;
    char why[160]; /* it was built anew; "": it was asked for, or not there */
    uint64_t records, results; /* that were read */
    uint64_t damaged;          /* lines of results.jsonl */
};

/* The folder is an experiment's, or it is an error (ERR_CONFIG).  `sql` is
 * borrowed for its life. */
struct index *index_new(const struct sql *sql, const char *folder,
                        struct err *err);
void index_free(struct index *ix);

/* -1: err tells.  ERR_LOG: the log is damaged; then what stands before the
 * damage, and all results, are in the database all the same. */
int index_update(struct index *ix, enum index_how how, struct index_report *out,
                 struct err *err);

/* "FOLDER/results.db", borrowed. */
const char *index_path(const struct index *ix);

#endif

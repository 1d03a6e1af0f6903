/* SPDX-License-Identifier: MIT */
/* index.h - results.db in an experiment's folder: a view of its files that can
 * be thrown away at any time.
 *
 * The process that updates it holds the folder's lock (flock(2) of the folder
 * itself), and one transaction holds the rows and how far the files were read,
 * so that a death costs what was not committed.  One thread. */
#ifndef STORE_INDEX_H
#define STORE_INDEX_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct index;
struct sql;

#define INDEX_FILE "results.db"

enum index_how {
    INDEX_ADD,   /* adds what is new; builds it anew where there is no database,
                    or one of another version or of other files */
    INDEX_CHECK, /* INDEX_ADD, which also builds a damaged one anew */
    INDEX_ANEW,  /* builds it anew */
};

struct index_report {
    bool anew;
    char why[160]; /* why it was built anew; "": it was asked for, or did not
                      exist */
    uint64_t records, results; /* how many were read */
    uint64_t damaged;          /* unreadable lines of results.jsonl */
};

/* Makes an index for an experiment's folder; another folder is an error
 * (ERR_CONFIG).  `sql` is borrowed for the index's life. */
struct index *index_new(const struct sql *sql, const char *folder,
                        struct err *err);
void index_free(struct index *ix);

/* Brings the database up to date.  -1: err tells.  ERR_LOG: the log is damaged;
 * what stands before the damage, and all results, are in the database all the
 * same. */
int index_update(struct index *ix, enum index_how how, struct index_report *out,
                 struct err *err);

/* "FOLDER/results.db", borrowed. */
const char *index_path(const struct index *ix);

#endif

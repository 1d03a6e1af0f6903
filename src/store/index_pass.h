/* SPDX-License-Identifier: MIT */
/* index_pass.h - one reading of what is new in an experiment's files, into a
 * database, as one transaction.  For index.h.  One thread. */
#ifndef STORE_INDEX_PASS_H
#define STORE_INDEX_PASS_H

struct err;
struct history_reader;
struct index_report;
struct store;

struct index_pass {
    const char *folder;
    struct history_reader *history; /* NULL: not open */
};

void index_pass_fini(struct index_pass *p);

/* The tables of a new database, and, once it was filled, the rest. */
int index_pass_make(struct index_pass *p, struct store *s, struct err *err);
int index_pass_made(struct index_pass *p, struct store *s, struct err *err);

enum index_pass_word {
    INDEX_PASS_FAILED = -1, /* err tells; nothing was committed, unless it is
                               ERR_LOG */
    INDEX_PASS_DONE,
    INDEX_PASS_OTHER, /* the files are not those that the database was made of,
                         and err tells */
    INDEX_PASS_SAME,  /* there was nothing new; index_pass_run() says DONE */
};

/* One of these words. */
int index_pass_run(struct index_pass *p, struct store *s,
                   struct index_report *out, struct err *err);

#endif

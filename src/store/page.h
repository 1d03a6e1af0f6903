/* SPDX-License-Identifier: MIT */
/* page.h - some of the trials that have ended, in an order: from results that
 * were read, or from the database, which gives the same page.  One owner. */
#ifndef STORE_PAGE_H
#define STORE_PAGE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct err;
struct result;
struct results;
struct sql;

enum page_sort {
    PAGE_VALUE,    /* the best first: results_sort() */
    PAGE_ENDED,    /* in the order of their ends */
    PAGE_TRIAL,    /* by their ids */
    PAGE_DURATION, /* the longest first */
};

struct page_want {
    uint64_t number;   /* from 1 */
    uint64_t per_page; /* at least 1 */
    enum page_sort sort;
    const char *status; /* NULL: any */
};

struct page {
    const struct result **rows;
    size_t n;
    uint64_t total; /* rows of all pages */
    /* The n rows; NULL: they are borrowed from the results. */
    struct result *own;
    const struct results *results; /* whose they are; NULL: a database's */
};

/* Reads "value", "ended", "trial" or "duration"; -1: err tells. */
int page_sort_parse(const char *word, enum page_sort *out, struct err *err);

/* Makes a page of results, whose rows it borrows. */
int page_of_results(struct page *p, const struct results *r,
                    const struct page_want *want, struct err *err);

/* Makes a page from the experiment's database, which is brought up to date
 * before.  1: there is no database, 0: done, -1: it is of no use, and err says
 * why. */
int page_of_database(struct page *p, const struct sql *sql, const char *folder,
                     const struct page_want *want, struct err *err);

void page_fini(struct page *p);

void page_print(FILE *out, const struct page *p, const struct page_want *want);

/* Prints {"page", "per_page", "total", "trials": [...]}; -1: too large for
 * memory, nothing is printed. */
int page_print_json(FILE *out, const struct page *p,
                    const struct page_want *want, struct err *err);

#endif

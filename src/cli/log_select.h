/* SPDX-License-Identifier: MIT */
/* log_select.h - which records `tunepipe log` shows. */
#ifndef CLI_LOG_SELECT_H
#define CLI_LOG_SELECT_H

#include "replay/logtrial.h"

#include <stdbool.h>
#include <stdint.h>

struct err;
struct log_reader;
struct record;

/* As on the command line; NULL: any. */
struct log_words {
    const char *trial, *commands, *kinds, *since, *until;
    uint64_t from, to;
};

struct log_select {
    const char *commands; /* "ME,EN"; borrowed */
    uint32_t kinds;       /* a bit for each enum record_kind */
    uint64_t from, to;
    int64_t since, until; /* microseconds since 1970 */
    bool of_trial;
    struct logtrial trial;
};

/* -1: err (ERR_USAGE) says which word is wrong.  Borrows the words. */
int log_select_init(struct log_select *s, const struct log_words *w,
                    struct err *err);
/* For a trial: finds out by which names the log knows it.  That it knows none
 * is an error (ERR_INPUT) unless it `may_come`. */
int log_select_find(struct log_select *s, struct log_reader *file,
                    const char *trial, bool may_come, struct err *err);
void log_select_fini(struct log_select *s);

bool log_select_has(struct log_select *s, const struct record *r);

#endif

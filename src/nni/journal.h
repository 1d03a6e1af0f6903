/* SPDX-License-Identifier: MIT */
/* journal.h - dispatcher.log: the file that NNI's users, and its FAQ, look
 * into first, in the form it always had:
 *
 *     [2023-07-19 14:18:38] INFO (nni.tuner.tpe/MainThread) Using random ...
 *
 * It is appended to (a resumed experiment keeps its first half's lines), with
 * one write(2) a line: any thread, and any process that has opened it. */
#ifndef NNI_JOURNAL_H
#define NNI_JOURNAL_H

#include "core/log.h"

struct err;

#define JOURNAL_NAME "dispatcher.log"

struct journal {
    int fd;               /* -1: none, every call is then a no-op */
    struct log_sink sink; /* for struct log's `also`: its lines go in here */
};

/* Opens the journal, and makes the folder where missing; the file is 0600.  -1:
 * err tells, and there is no journal. */
int journal_open(struct journal *j, const char *folder, enum log_level most,
                 struct err *err);
void journal_close(struct journal *j);

/* Writes one line of that logger ("nni.tuner.tpe"; NULL: the dispatcher's
 * own). */
void journal_say(const struct journal *j, enum log_level level,
                 const char *logger, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif

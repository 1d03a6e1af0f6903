/* SPDX-License-Identifier: MIT */
/* holding.h - the reports of one trial that wait for an answer, and the FIFO
 * through which it comes (trial/files.h, `answers`).  One thread. */
#ifndef MANAGER_HOLDING_H
#define MANAGER_HOLDING_H

#include "trial/report.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct metric_line;

struct held {
    struct held *next;
    uint64_t sequence;
    int64_t end;    /* where its line ends */
    bool hears;     /* the trial ends by itself when told */
    bool quiet;     /* the trial does not wait, ... */
    bool judges;    /* ... but its end does: holding_judges() */
    uint64_t frame; /* the number of its ME; 0: it was not sent yet */
    char *payload;  /* of that */
    size_t len;
};

struct holding {
    int fd; /* of the FIFO; -1: not open, nobody waits */
    struct held *first;
};

/* A trial's, before its folder is made. */
#define HOLDING_CLOSED \
    (struct holding)   \
    {                  \
        .fd = -1       \
    }

/* Makes the FIFO in a new folder, or opens that of a trial that goes on.  From
 * here on whoever waits is answered; until then, and after holding_close(), a
 * report goes on at once. */
int holding_make(struct holding *h, const char *folder, struct err *err);
int holding_open(struct holding *h, const char *folder, struct err *err);
void holding_close(struct holding *h); /* a closed one too */

/* The metric's trial waits until holding_answer(); where it does not, its end
 * does. */
void holding_add(struct holding *h, const struct metric_line *metric);

/* Whether the end has to wait, for what a report is answered tells how it is
 * meant. */
bool holding_judges(const struct holding *h);

/* Its ME was sent, as a dispatcher's frame of that number; copies.  Without
 * effect where nobody waits. */
void holding_sent(struct holding *h, uint64_t sequence, uint64_t frame,
                  const char *payload, size_t len);

/* Whether somebody waits who ends by itself when told. */
bool holding_hears(const struct holding *h);

/* Of a sequence that nobody waits for: without effect. */
void holding_answer(struct holding *h, uint64_t sequence,
                    enum report_answer answer);
void holding_answer_all(struct holding *h, enum report_answer answer);

/* Answers a line that was never added. */
void holding_answer_line(struct holding *h, const struct metric_line *metric,
                         enum report_answer answer);

#endif

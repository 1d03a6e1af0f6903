/* SPDX-License-Identifier: MIT */
/* pending_reports.h - the reports of one trial that are read and not dealt with
 * yet.  In lock step a report first waits to be sent, until it is the trial's
 * turn (struct unsent); what is sent may then wait for the dispatcher's answer,
 * and with it the trial itself, which reads the answer from a FIFO (struct
 * unanswered; trial/files.h, `answers`).  One thread. */
#ifndef MANAGER_PENDING_REPORTS_H
#define MANAGER_PENDING_REPORTS_H

#include "trial/report.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct metric_line;
struct unsent_report;

struct unanswered_report {
    struct unanswered_report *next;
    uint64_t sequence; /* its position among the intermediate ones */
    int64_t end;       /* where its line ends, by which the trial knows it */
    bool hears;        /* the trial ends by itself when it is told to stop */
    bool quiet;        /* the trial does not wait for the answer, ... */
    bool decides_end;  /* ... but its end does: unanswered_judges() */
    uint64_t frame;    /* the number of its ME; 0: it was not sent yet */
    char *payload;     /* that ME's, to be sent again where it was lost */
    size_t payload_len;
};

struct unanswered {
    int fd; /* of the FIFO, or the file; -1: not open, nobody waits */
    /* Who is told instead, of the trial `of`; NULL: it is the FIFO. */
    void (*hear)(void *ctx, uint64_t of, int64_t end,
                 enum report_answer answer);
    void *ctx;
    uint64_t of;
    struct unanswered_report *first;
};

/* What a trial has before its folder is made. */
#define UNANSWERED_CLOSED \
    (struct unanswered)   \
    {                     \
        .fd = -1          \
    }

/* Makes the FIFO in a new folder, or opens that of a trial that goes on, where
 * it has one; by_file: what is answered goes through TRIAL_ANSWERED.  From here
 * on a trial that waits is answered; until then, and after unanswered_close(),
 * a report goes on at once. */
int unanswered_make(struct unanswered *u, const char *folder, bool by_file,
                    struct err *err);
int unanswered_open(struct unanswered *u, const char *folder, bool by_file,
                    struct err *err);
void unanswered_close(struct unanswered *u); /* a closed one too */
/* Nobody will wait: removes the FIFO. */
void unanswered_remove(struct unanswered *u, const char *folder);

/* The metric's trial, or where it does not wait the trial's end, has to wait
 * until unanswered_answer(). */
void unanswered_add(struct unanswered *u, const struct metric_line *metric);

/* The report was sent, in the ME that is the dispatcher's frame of this number;
 * the payload is copied.  Without effect where nobody waits. */
void unanswered_sent(struct unanswered *u, uint64_t sequence, uint64_t frame,
                     const char *payload, size_t len);

/* Whether the trial's end has to wait, because the answer to a report decides
 * how the end is judged. */
bool unanswered_judges(const struct unanswered *u);

/* Whether the trial waits for an answer that may tell it to end by itself. */
bool unanswered_hears(const struct unanswered *u);

/* Answers the report of this sequence, where it waits, or all that wait. */
void unanswered_answer(struct unanswered *u, uint64_t sequence,
                       enum report_answer answer);
void unanswered_answer_all(struct unanswered *u, enum report_answer answer);

/* Answers a line that was never added. */
void unanswered_answer_line(struct unanswered *u,
                            const struct metric_line *metric,
                            enum report_answer answer);

/* In lock step: what nobody was told yet.  Intermediate results are in their
 * order; final ones are apart, since a trial's other results come before them,
 * whatever files they stand in.  A zeroed one is empty. */
struct unsent {
    struct unsent_report *reports, *finals;
};

/* Copies the metric. */
int unsent_add(struct unsent *u, const struct metric_line *metric,
               struct err *err);
bool unsent_has_reports(const struct unsent *u);

/* Takes the next report, or final result, out and hands it to `take`; false:
 * there is none. */
typedef void unsent_take(void *ctx, const struct metric_line *metric);
bool unsent_next_report(struct unsent *u, unsent_take *take, void *ctx);
bool unsent_next_final(struct unsent *u, unsent_take *take, void *ctx);

void unsent_clear(struct unsent *u);

#endif

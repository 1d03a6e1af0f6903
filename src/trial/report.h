/* SPDX-License-Identifier: MIT */
/* report.h - what a trial reports: checking one metric and appending it to
 * the trial's metrics (see trial/files.h).  Any thread and any process. */
#ifndef TRIAL_REPORT_H
#define TRIAL_REPORT_H

#include <stdbool.h>
#include <stddef.h>

struct err;

/* DONE: a final result, behind which the manager ends the trial. */
enum report_type { REPORT_INTERMEDIATE, REPORT_FINAL, REPORT_DONE };

/* Whether `json` is a number (NaN, Infinity and -Infinity included) or looks
 * like an object with one numeric member "default"; where TUNEPIPE_OBJECTIVES
 * names values, like an object with one of them, or, of a final result, with
 * all.  The object is followed only as far as that takes: the manager parses it
 * for good. */
int report_check(const char *json, enum report_type type, struct err *err);

/* Makes the JSON of a report, to be freed, from one value as report_check()
 * takes it, or from several: NAME=NUMBER, and a number alone, which is
 * "default".  NULL: err says what is wrong. */
char *report_value(const char *const *words, size_t n, struct err *err);

/* Checks, then appends the line to FOLDER/metrics with one write; line ends in
 * `json` become spaces.  On failure nothing was reported, unless the error
 * says that a part was written (a full disk); a final result that is refused
 * leaves the word that it was. */
int report_append(const char *folder, enum report_type type, const char *json,
                  struct err *err);

/* What a trial should do after a report; all but GO end it (trial/files.h). */
enum report_answer { REPORT_GO, REPORT_STOP, REPORT_PAUSE, REPORT_FINISH };

/* The word for it in a trial's `answers`. */
const char *report_answer_word(enum report_answer answer);

/* How the trial waits for the answer to an intermediate result. */
enum report_wait {
    REPORT_NO_WAIT,
    REPORT_WAIT, /* it goes on whatever comes */
    REPORT_HEAR, /* it ends by itself when told (--sync) */
};

/* What is done between a report's line and the wait for its answer; -1 ends
 * that wait before it begins. */
struct report_then {
    int (*act)(void *ctx, struct err *err);
    void *ctx;
};

/* Reports an intermediate result, then does `then` (NULL: nothing), then waits
 * until the manager has answered.  Goes on at once where nobody answers;
 * *answer is REPORT_GO unless the trial hears. */
int report_intermediate(const char *folder, const char *json,
                        enum report_wait wait, const struct report_then *then,
                        enum report_answer *answer, struct err *err);

/* Tells the manager, which counts it, that a checkpoint was saved. */
int report_checkpoint(const char *folder, unsigned long long number,
                      struct err *err);

#endif

/* SPDX-License-Identifier: MIT */
/* child.h - runs a piece of work in a process of its own, so that a crash, an
 * exit or a hang is something to tell of and not the end. */
#ifndef CHECK_CHILD_H
#define CHECK_CHILD_H

#include "check/calls.h"
#include "check/check.h"

#include <stdint.h>

#define CHILD_FINDINGS_MAX 16

/* Memory that child and parent share. */
struct child_page {
    struct calls_seen seen;
    char kind[16], name[72]; /* the plugin's */
    bool finished;
    size_t n;
    struct {
        enum check_verdict verdict;
        char text[CHECK_TEXT_MAX];
    } findings[CHILD_FINDINGS_MAX];
};

/* NULL: err says why. */
struct child_page *child_page_new(struct err *err);
void child_page_free(struct child_page *page);

void child_find(struct child_page *page, enum check_verdict verdict,
                const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Forgets what the page holds and runs work(ctx) in a child whose stdout and
 * stderr go to out_fd, for at most limit_ms.  How it ended, if not as it
 * should, becomes a finding.  -1: there was no child. */
int child_run(struct child_page *page, void (*work)(void *ctx), void *ctx,
              int out_fd, int64_t limit_ms, struct err *err);

#endif

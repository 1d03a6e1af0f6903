/* SPDX-License-Identifier: MIT */
/* account_view.h - what a manager tells of its experiment (manager/status.h),
 * as text for people. */
#ifndef CLI_ACCOUNT_VIEW_H
#define CLI_ACCOUNT_VIEW_H

#include "json.h"

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct results;

/* What is shown of an account, and how old it is. */
struct account_view {
    struct jval account;
    double since_s;
    bool blocks; /* the terminal shows U+2581 to U+2588 */
};

/* Appends some lines on the experiment, each ended by LF. */
void account_view_head(const struct account_view *v, struct buf *out);
/* Appends a blank line, a heading and a line for each live trial that the
 * account holds, and one that tells how many it leaves out; nothing where no
 * trial lives. */
void account_view_trials(const struct account_view *v, struct buf *out);
/* Appends the head on one line, without LF; with the time only where wanted. */
void account_view_line(const struct account_view *v, bool time,
                       struct buf *out);

/* Makes an account from an experiment's folder, when no manager gives one:
 * "state" is "ended" or "died", "reason" how, "unended" how many trials have
 * begun and not ended; of live trials nothing is known. */
void account_of_results(const struct results *r, struct buf *out);

#endif

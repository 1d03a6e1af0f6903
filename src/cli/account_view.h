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

/* What is shown of an account that came so many seconds ago. */
struct account_view {
    struct jval account;
    double since_s;
    bool blocks; /* the terminal shows U+2581 to U+2588 */
};

/* Some lines on the experiment, each ended by LF. */
void account_view_head(const struct account_view *v, struct buf *out);
/* A blank line, a heading and a line for each live trial that the account
 * holds, and one that tells how many it leaves out; nothing where there is
 * none. */
void account_view_trials(const struct account_view *v, struct buf *out);
/* The head on one line, without LF; with `time` only when that is wanted. */
void account_view_line(const struct account_view *v, bool time,
                       struct buf *out);

/* The account that a folder gives when no manager does: "state" is "ended" or
 * "died", "reason" how, "unended" how many trials have begun and no end; of
 * live trials nothing is known. */
void account_of_results(const struct results *r, struct buf *out);

#endif

/* SPDX-License-Identifier: MIT */
/* inner.h - what lies inside a filter while it is checked: a tuner that samples
 * the prior, as `random` does, and looks at how it is called.
 *
 * It is asked for the ids that the host asked for alone; told and ended at most
 * once, of ids it gave a point for, with the x that was given out; told of all
 * else as imported. */
#ifndef CHECK_INNER_H
#define CHECK_INNER_H

#include "tunepipe/filter.h"

#include <stdbool.h>

struct space;
struct tp_space;
struct inner;

enum inner_mood {
    INNER_GIVES, /* a point, always */
    INNER_LATER, /* each second time nothing now */
    INNER_DONE,  /* two points, then it is done */
    INNER_FAILS, /* each third call */
    INNER_MOODS
};

/* Where the tested object's current space is found, and as it was lent. */
struct inner_given {
    const struct space *const *space;
    struct tp_space *const *lent;
};

/* Both of `given` are lent until inner_free(); NULL: out of memory.  What takes
 * a struct inner takes NULL, too, and does nothing, or says false. */
struct inner *inner_new(struct inner_given given, enum inner_mood mood);
void inner_free(struct inner *inner);

const struct tp_next *inner_next(const struct inner *inner);

/* Words for messages: "the layer inside has nothing now"; "" for
 * INNER_GIVES. */
const char *inner_mood_text(enum inner_mood mood);

/* What `from` knows and how it feels, for `to`: the filter around it has
 * been exchanged.  `from` is then empty. */
void inner_take_over(struct inner *to, struct inner *from,
                     struct inner_given given);

/* A call of the filter begins; id: of ask, else TP_NO_ID. */
void inner_enter(struct inner *inner, uint64_t asked);

/* Whether it failed since then. */
bool inner_failed(const struct inner *inner);

/* The filter gave x out for id: what is promoted has to be as it was inside. */
void inner_given(struct inner *inner, uint64_t id, const double *x,
                 const struct tp_suggestion *out);

/* The filter's space, tell or ended returned TP_OK: was that passed on? */
void inner_expect_space(struct inner *inner);
void inner_expect_told(struct inner *inner, uint64_t id);
void inner_expect_ended(struct inner *inner, uint64_t id);

/* The first thing that was wrong with how it was called; NULL: nothing. */
const char *inner_fault(const struct inner *inner);

#endif

/* SPDX-License-Identifier: MIT */
/* line.h - one line of trials, each of which goes on from the state of the one
 * before with the parameters of the next segment; as Ray's
 * PopulationBasedTrainingReplay runs a schedule that population based training
 * has found (Jaderberg et al., arXiv:1711.09846v2, section 4.4, on what lies in
 * schedules).
 *
 * A trial that fails is followed by another of its segment, from where it
 * began.
 *
 * Knows no plugin interface; one thread at a time. */
#ifndef PBT_REPLAY_LINE_H
#define PBT_REPLAY_LINE_H

#include "pbt_replay/schedule.h"

#define LINE_NO_ID (~(uint64_t)0)

enum line_verdict { LINE_GO, LINE_PAUSE, LINE_FINISH };
enum line_ask { LINE_POINT, LINE_LATER, LINE_OVER };

struct schedule_line {
    uint64_t segment;         /* the next trial's, or that is out */
    uint64_t id;              /* is out, or LINE_NO_ID */
    uint64_t from;            /* it went on from, or LINE_NO_ID */
    uint64_t turn, from_turn; /* of the folders */
    enum line_verdict verdict;
};

/* Everything is to be run yet. */
void line_begin(struct schedule_line *l);

/* A trial of l->segment, from l->from; or again for the one that is out. */
enum line_ask line_ask(struct schedule_line *l, const struct schedule *s,
                       uint64_t id);

/* What it may use: to the end of its segment, or max_budget for the last one;
 * 0: no end. */
uint64_t line_budget(const struct schedule_line *l, const struct schedule *s,
                     uint64_t max_budget);

/* `used`: intermediate results along the line. */
enum line_verdict line_metric(struct schedule_line *l, const struct schedule *s,
                              uint64_t max_budget, uint64_t id, uint64_t used);

/* well: it paused, or succeeded.  Returns the trial whose state nobody needs
 * any more, or LINE_NO_ID. */
uint64_t line_ended(struct schedule_line *l, uint64_t id, bool well);

#endif

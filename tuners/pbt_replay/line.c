/* SPDX-License-Identifier: MIT */
#include "pbt_replay/line.h"

void
line_begin(struct schedule_line *l)
{
    *l = (struct schedule_line){.id = LINE_NO_ID, .from = LINE_NO_ID};
}

enum line_ask
line_ask(struct schedule_line *l, const struct schedule *s, uint64_t id)
{
    if (l->segment >= s->n_segments)
        return LINE_OVER;
    if (l->id != LINE_NO_ID && l->id != id)
        return LINE_LATER;
    l->id = id;
    l->verdict = LINE_GO;
    return LINE_POINT;
}

uint64_t
line_budget(const struct schedule_line *l, const struct schedule *s,
            uint64_t max_budget)
{
    return l->segment + 1 < s->n_segments ? s->segments[l->segment].until
                                          : max_budget;
}

enum line_verdict
line_metric(struct schedule_line *l, const struct schedule *s,
            uint64_t max_budget, uint64_t id, uint64_t used)
{
    uint64_t budget;

    if (id != l->id)
        return LINE_GO;
    budget = line_budget(l, s, max_budget);
    if (budget > 0 && used >= budget)
        l->verdict = l->segment + 1 < s->n_segments ? LINE_PAUSE : LINE_FINISH;
    return l->verdict;
}

uint64_t
line_ended(struct schedule_line *l, uint64_t id, bool well)
{
    uint64_t needed_no_more = LINE_NO_ID;

    if (id != l->id)
        return LINE_NO_ID;
    if (well) {
        needed_no_more = l->from;
        l->from = id;
        l->from_turn = l->turn;
        l->segment++;
    }
    l->id = LINE_NO_ID;
    l->turn++;
    return needed_no_more;
}

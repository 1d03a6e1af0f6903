/* SPDX-License-Identifier: MIT */
/* {"command": "why", "trial": N}: {"trial": ID, "status": WORD, "waits": TEXT},
 * of one that has its parameters and has not ended. */
#include "manager/commands_table.h"

#include "core/buf.h"
#include "core/err.h"
#include "manager/live.h"
#include "manager/placing.h"
#include "manager/state.h"
#include "manager/trial.h"

#include <string.h>

#define TEXT_MAX 8192

/* One that waits for nothing of ours does so for its own end. */
static void
explain(struct manager *m, const struct trial *t, struct buf *out)
{
    if (t->state == TRIAL_WAITING || t->state == TRIAL_PREPARED)
        placing_explain(m, t, out);
    else if (t->exited)
        buf_add_text(out, "the dispatcher is to take what it reported");
    else
        buf_add_text(out, "it waits for nothing");
}

int
commands_why(struct manager *m, struct jval request, struct buf *reply,
             struct err *err)
{
    const struct trial *t;
    uint64_t number = 0;
    struct buf text;
    struct jval v;

    if (!jval_get(request, "trial", &v) || !jval_uint(v, &number))
        return err_set(err, ERR_INPUT, "trial: expected its number");
    t = live_by_number(m, number);
    if (t == NULL && number < m->n_trials)
        return err_set(err, ERR_INPUT, "trial %05llu has ended",
                       (unsigned long long)number);
    if (t == NULL)
        return err_set(err, ERR_INPUT,
                       "trial %05llu: there is none, %llu have come so far",
                       (unsigned long long)number,
                       (unsigned long long)m->n_trials);
    buf_init(&text, TEXT_MAX);
    explain(m, t, &text);
    buf_printf(reply,
               "{\"trial\": \"%s\", \"status\": \"%s\", \"waits\": ", t->id,
               trial_state_name(t->state));
    json_write_text(reply, buf_text(&text));
    buf_add_char(reply, '}');
    buf_fini(&text);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* What is done to single trials.  All that are named are looked at before the
 * first is touched. */
#include "manager/commands_table.h"

#include "core/buf.h"
#include "core/err.h"
#include "manager/again.h"
#include "manager/live.h"
#include "manager/state.h"
#include "manager/trial.h"

#include <string.h>

/* "trials": how many; each is checked by `check`. */
static int
read_trials(const struct manager *m, struct jval request, struct jval *list,
            int (*check)(const struct manager *, uint64_t, struct err *),
            struct err *err)
{
    if (!jval_get(request, "trials", list) || jval_type(*list) != JSON_ARRAY ||
        jval_count(*list) == 0)
        return err_set(err, ERR_INPUT,
                       "trials: expected an array of their numbers");
    for (size_t i = 0; i < jval_count(*list); i++) {
        uint64_t number;

        if (!jval_uint(jval_at(*list, i), &number))
            return err_set(err, ERR_INPUT, "trials: expected numbers, not %s",
                           jval_type_name(jval_at(*list, i)));
        if (check(m, number, err) != 0)
            return -1;
    }
    return 0;
}

static int
check_begun(const struct manager *m, uint64_t number, struct err *err)
{
    if (number < m->n_trials)
        return 0;
    return err_set(err, ERR_INPUT,
                   "trial %05llu: there is none, expected one of %llu trials "
                   "from 00000",
                   (unsigned long long)number, (unsigned long long)m->n_trials);
}

static int
check_live(const struct manager *m, uint64_t number, struct err *err)
{
    if (check_begun(m, number, err) != 0)
        return -1;
    if (live_by_number(m, number) != NULL)
        return 0;
    return err_set(err, ERR_INPUT, "trial %05llu has ended",
                   (unsigned long long)number);
}

int
commands_kill(struct manager *m, struct jval request, struct buf *reply,
              struct err *err)
{
    struct jval list;

    if (read_trials(m, request, &list, check_live, err) != 0)
        return -1;
    for (size_t i = 0; i < jval_count(list); i++) {
        uint64_t number = 0;
        struct trial *t;

        jval_uint(jval_at(list, i), &number);
        t = live_by_number(m, number);
        if (t != NULL) /* else it was named twice */
            running_cancel(m, t);
    }
    buf_add_text(reply, "{}");
    return 0;
}

/* {"trials": [N, ...]}, or "failed": all that failed. */
int
commands_retry(struct manager *m, struct jval request, struct buf *reply,
               struct err *err)
{
    const char *word = "";
    struct jval list;
    size_t n;
    int rc;

    if (m->phase != PHASE_RUNNING)
        return err_set(err, ERR_INPUT, "the experiment takes no more trials");
    buf_add_text(reply, "{\"trials\": [");
    if (jval_get(request, "trials", &list) && jval_string(list, &word, NULL) &&
        strcmp(word, "failed") == 0) {
        rc = again_failed(m, reply, &n, err);
    } else {
        rc = read_trials(m, request, &list, check_begun, err);
        if (rc == 0)
            rc = again_named(m, list, reply, err);
    }
    buf_add_text(reply, "]}");
    if (rc == 0)
        running_start_waiting(m);
    return rc;
}

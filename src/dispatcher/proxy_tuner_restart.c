/* SPDX-License-Identifier: MIT */
/* A program's hands at a reunion, see reunion.h.
 *
 * A program has ended with the dispatcher before.  The one that is started by
 * the first GE is told all results and the trials that run again; what was
 * lost it does not know, and may propose again. */

#include "dispatcher/proxy_tuner.h"

#include "core/err.h"
#include "core/log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool
same_space(const void *side, const struct command *cmd)
{
    const struct proxy_tuner *t = side;
    struct json *now = json_parse(t->space.data, t->space.len, JSON_NAN, NULL);
    bool same =
        now != NULL && jval_equal(json_root(now), json_root(cmd->space));

    json_free(now);
    return same;
}

static void
forget_requests(struct proxy_requests *q)
{
    while (q->n > 0)
        proxy_requests_pop(q);
}

static void
begin_again(void *side, const struct command *cmd, bool same)
{
    struct proxy_tuner *t = side;

    t->failed = 0;
    forget_requests(&t->owed);
    forget_requests(&t->asked);
    if (!same) {
        buf_clear(&t->space);
        jval_write(json_root(cmd->space), &t->space);
        proxy_tuner_send(t, CMD_UPDATE_SPACE, "", &t->space, "");
    }
    proxy_emit(&t->base, (struct emission){.code = CMD_INITIALIZED,
                                           .number = cmd->position});
}

static void
write_parameters(const void *side, const struct trial *trial, struct buf *out)
{
    (void)side;
    buf_add_text(out, trial->parameters);
}

/* It goes to the program with the rest of that FD. */
static int
import_result(void *side, struct jval entry, struct err *err)
{
    struct proxy_tuner *t = side;

    (void)err;
    buf_add_text(&t->fresh, t->fresh.len == 0 ? "" : ", ");
    jval_write(entry, &t->fresh);
    proxy_tuner_keep(t, entry);
    return 0;
}

static void
tell_result(void *side, struct trial *trial, const char *job, double value)
{
    proxy_tuner_tell(side, trial, job, NULL, &value);
}

static void
end_trial(void *side, struct trial *trial, const struct trial_end *end)
{
    proxy_tuner_tell_end(side, trial, end);
}

static void
give_again(void *side, const struct trial *trial, uint64_t was)
{
    struct proxy_tuner *t = side;
    const struct parameter_record record = {.id = trial->id,
                                            .label = trial->label,
                                            .parameters = trial->parameters,
                                            .parameters_len =
                                                strlen(trial->parameters)};

    (void)was; /* it has its id still */
    proxy_emit(&t->base,
               (struct emission){.code = CMD_NEW_TRIAL, .gives = &record});
    reunion_launch(&t->reunion, trial->id, trial->label);
}

static void
out_of_memory(void *side)
{
    proxy_out_of_memory(side);
}

static bool
failed(const void *side)
{
    return ((const struct proxy_tuner *)side)->base.fatal;
}

const struct reunion_ops proxy_tuner_reunion = {
    .program = true,
    .same_space = same_space,
    .begin_again = begin_again,
    .write_parameters = write_parameters,
    .import = import_result,
    .tell = tell_result,
    .end = end_trial,
    .give = give_again,
    .out_of_memory = out_of_memory,
    .failed = failed,
};

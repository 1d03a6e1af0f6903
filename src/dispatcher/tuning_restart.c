/* SPDX-License-Identifier: MIT */
/* A plugin's hands at a reunion, see reunion.h. */
#include "core/err.h"
#include "core/log.h"
#include "dispatcher/explainer.h"
#include "dispatcher/tuning_state.h"
#include "json.h"
#include "space/space.h"
#include "tunepipe/tuner.h"

#include <inttypes.h>
#include <stdio.h>

uint64_t
tuning_id(const struct tuning *t, const struct trial *trial)
{
    return t->policy->nni ? trial->theirs : trial->id;
}

void
tuning_ran(struct tuning *t, const char *job, const struct trial *trial)
{
    reunion_ran(&t->reunion, job, trial);
    tuning_name(t, tuning_id(t, trial), job, false);
}

static bool
same_space(const void *side, const struct command *cmd)
{
    return tuning_same_space(side, cmd->document);
}

static void
begin_again(void *side, const struct command *cmd, bool same)
{
    struct tuning *t = side;
    struct err why;

    owed_clear(&t->owed);
    if (same || tuning_set_space(t, cmd->document, &why))
        tuning_emit_initialized(t, cmd);
    else
        tuning_refuse_space(t, &why);
}

static void
write_point(const void *side, const struct trial *trial, struct buf *out)
{
    const struct tuning *t = side;

    if (trial->parameters != NULL)
        buf_add_text(out, trial->parameters);
    else
        space_decode(t->space, trial->x, out);
}

static int
import_result(void *side, struct jval entry, struct err *err)
{
    return tuning_import_one(side, entry, err);
}

static void
refuse_result(void *side, size_t i, struct err *err)
{
    tuning_refuse_element(side, i, err);
}

static void
tell_result(void *side, struct trial *trial, const char *job, double value)
{
    struct tp_result result = {.how = TP_RESULT_FINAL, .value = value};

    tuning_tell(side, trial, job, &result);
}

static void
end_trial(void *side, struct trial *trial, const struct trial_end *end)
{
    tuning_end_trial(side, trial, end);
}

static void
explain(const struct tuning *t, uint64_t was)
{
    const struct host_listener *listener;
    char text[96];

    if (t->explainer == NULL)
        return;
    listener = &t->explainer->listener;
    t->explainer->begin(listener->ctx);
    snprintf(text, sizeof text,
             "given out again: it was %" PRIu64 ", which was lost", was);
    listener->said(listener->ctx, "tunepipe", text);
}

static void
give_again(void *side, const struct trial *trial, uint64_t was)
{
    struct tuning *t = side;

    explain(t, was);
    buf_clear(&t->json);
    write_point(t, trial, &t->json);
    tuning_give_out(
        t, &(struct parameter_record){.id = trial->id, .label = trial->label});
}

static void
out_of_memory(void *side)
{
    tuning_out_of_memory(side);
}

static bool
failed(const void *side)
{
    return ((const struct tuning *)side)->fatal;
}

const struct reunion_ops tuning_reunion = {
    .same_space = same_space,
    .begin_again = begin_again,
    .write_parameters = write_point,
    .import = import_result,
    .refuse = refuse_result,
    .tell = tell_result,
    .end = end_trial,
    .give = give_again,
    .out_of_memory = out_of_memory,
    .failed = failed,
};

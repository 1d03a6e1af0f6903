/* SPDX-License-Identifier: MIT */
#include "dispatcher/side.h"

#include "core/err.h"
#include "core/log.h"
#include "core/number.h"
#include "dispatcher/explainer.h"
#include "dispatcher/naming.h"
#include "dispatcher/view.h"
#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* DESIGN.  A kind of side may leave functions out of its table; what the
 * side then does is decided here alone, so that callers never look into the
 * table. */

void
side_free(struct side *s)
{
    if (s != NULL)
        s->ops->free(s);
}

int
side_command(struct side *s, const struct command *cmd, struct err *err)
{
    return s->ops->command(s, cmd, err);
}

/* ---- a program ---- */

int
side_frame(struct side *s, uint64_t arrival, const struct frame *frame,
           struct err *err)
{
    return s->ops->frame(s, arrival, frame, err);
}

int
side_event(struct side *s, uint64_t arrival, enum side_event event,
           const char *how, struct err *err)
{
    return s->ops->event(s, arrival, event, how, err);
}

static const char *const event_names[] = {
    [SIDE_LATE] = "late", [SIDE_GONE] = "gone", [SIDE_LEFT] = "left"};

const char *
side_event_name(enum side_event event)
{
    return event_names[event];
}

bool
side_event_find(const char *name, size_t len, enum side_event *out)
{
    for (int i = 0; i <= SIDE_LEFT; i++)
        if (strlen(event_names[i]) == len &&
            memcmp(event_names[i], name, len) == 0) {
            *out = (enum side_event)i;
            return true;
        }
    return false;
}

struct proxy *
side_proxy(struct side *s)
{
    return s->ops->proxy == NULL ? NULL : s->ops->proxy(s);
}

bool
side_waits(const struct side *s)
{
    return s->ops->waits != NULL && s->ops->waits(s);
}

/* ---- the session's end ---- */

void
side_close(struct side *s)
{
    if (s->ops->close != NULL)
        s->ops->close(s);
}

bool
side_drops(const struct side *s, const struct command *cmd)
{
    return s->ops->drops != NULL && s->ops->drops(s, cmd);
}

void
side_reopen(struct side *s)
{
    if (s->ops->reopen != NULL)
        s->ops->reopen(s);
}

/* ---- replay ---- */

void
side_bar(struct side *s, bool barred)
{
    if (s->ops->bar != NULL)
        s->ops->bar(s, barred);
}

void
side_adopt(struct side *s, const char *payload, size_t len)
{
    if (s->ops->adopt != NULL)
        s->ops->adopt(s, payload, len);
}

/* ---- how it stands ---- */

bool
side_is_set(const struct side *s)
{
    return s->ops->is_set == NULL || s->ops->is_set(s);
}

uint64_t
side_owed(const struct side *s)
{
    return s->ops->owed == NULL ? 0 : s->ops->owed(s);
}

void
side_see(const struct side *s, struct tuning_view *out,
         const struct viewer *viewer)
{
    *out = (struct tuning_view){0};
    if (s->ops->see != NULL)
        s->ops->see(s, out, viewer);
}

void
side_listen(struct side *s, const struct explainer *explainer)
{
    if (s->ops->listen != NULL)
        s->ops->listen(s, explainer);
}

/* ---- snapshots and the head record ---- */

int
side_save(const struct side *s, struct buf *out, struct err *err)
{
    return s->ops->save == NULL ? 0 : s->ops->save(s, out, err);
}

int
side_load(struct side *s, struct unpack *in, struct err *err)
{
    return s->ops->load == NULL ? err_set(err, ERR_LOG, "it is a program")
                                : s->ops->load(s, in, err);
}

const char *
side_argument(const struct side *s, const char *name)
{
    return s->ops->argument == NULL ? NULL : s->ops->argument(s, name);
}

void
side_describe(const struct side *s, struct json_writer *w)
{
    s->ops->describe(s, w);
}

int
side_check(const struct side *s, struct jval head, struct err *err)
{
    return s->ops->check(s, head, err);
}

int
side_check_version(struct jval described, const char *key, const char *name,
                   uint32_t version, struct err *err)
{
    struct jval was;
    uint64_t recorded;

    if (!jval_get(described, "version", &was) || !jval_uint(was, &recorded) ||
        recorded == version)
        return 0;
    return err_set(err, ERR_LOG,
                   "%s %s: recorded with version %" PRIu64
                   " of the algorithm, installed is version %" PRIu32
                   ": its answers may differ",
                   key, name, recorded, version);
}

/* ---- for the kinds of sides ---- */

void
side_init(struct side *s, const struct side_ops *ops, enum sender sender,
          const struct policy *policy, struct emitter emitter,
          const struct log *log)
{
    *s = (struct side){.ops = ops,
                       .sender = sender,
                       .policy = policy,
                       .emitter = emitter,
                       .log = log};
    buf_init(&s->payload, SIZE_MAX / 2);
}

void
side_fini(struct side *s)
{
    buf_fini(&s->payload);
}

void
side_begin(struct side *s, uint64_t arrival, const char *input,
           struct err *failure)
{
    s->arrival = arrival;
    s->input = input;
    s->fatal = false;
    s->failure = failure;
}

int
side_end(const struct side *s)
{
    return s->fatal ? -1 : 0;
}

bool
side_encode(struct side *s, struct emission *e)
{
    e->sender = s->sender;
    e->cause = s->arrival;
    if (emission_encode(e, s->policy->extensions, &s->payload) == 0)
        return true;
    side_out_of_memory(s);
    return false;
}

void
side_emit(struct side *s, struct emission e)
{
    if (side_encode(s, &e) && !s->fatal)
        s->emitter.emit(s->emitter.ctx, &e);
}

void
side_complain(const struct side *s, const char *text)
{
    log_error(s->log, "command %" PRIu64 " (%s): %s", s->arrival, s->input,
              text);
}

void
side_complain_trial(const struct side *s, const char *job,
                    const struct parameter_id *id, const char *text, bool late)
{
    char which[NAMING_MAX];

    log_line(s->log, late ? LOG_INFO : LOG_ERROR,
             "command %" PRIu64 " (%s): %s: %s", s->arrival, s->input,
             naming_trial(which, job, id), text);
}

void
side_judge(const struct side *s, const struct explainer *explainer,
           const struct judgement *j)
{
    static const char *const past_tense[] = {
        [TRIAL_STOP] = "stopped",
        [TRIAL_PAUSE] = "paused",
        [TRIAL_FINISH] = "finished",
        [TRIAL_RELEASE] = "released",
    };
    const char *word = s->sender == SENDER_DEFAULT ? "the tuner's word"
                                                   : "the assessor's word";
    char value[NUMBER_TEXT_MAX], threshold[NUMBER_TEXT_MAX];

    if (explainer != NULL)
        explainer->judged(explainer->listener.ctx, j);
    if (j->decision == TRIAL_GO)
        return;
    word = j->rule != NULL ? j->rule : word;
    if (isnan(j->value) && isnan(j->threshold)) {
        log_info(s->log, "trial '%.64s' %s at step %" PRIu64 ": %s", j->job,
                 past_tense[j->decision], j->step, word);
        return;
    }
    number_format(j->value, value);
    number_format(j->threshold, threshold);
    log_info(s->log, "trial '%.64s' %s at step %" PRIu64 ": %s (%s, limit %s)",
             j->job, past_tense[j->decision], j->step, word, value, threshold);
}

void
side_failed(struct side *s, const struct err *err)
{
    if (s->policy->on_error == ERROR_SKIP) {
        side_complain(s, err->text);
        return;
    }
    if (s->fatal)
        return;
    s->fatal = true;
    if (s->failure != NULL) {
        *s->failure = *err;
        err_place(s->failure, "command %" PRIu64 " (%s)", s->arrival, s->input);
    }
}

void
side_out_of_memory(struct side *s)
{
    s->fatal = true;
    err_set(s->failure, ERR_MEMORY, "command %" PRIu64 " (%s): out of memory",
            s->arrival, s->input);
}

/* SPDX-License-Identifier: MIT */
/* The outbound half of command.h.  Keys, their order and their spelling are
 * NNI's, byte for byte; what --extensions adds stands behind them. */
#include "command.h"

#include "core/buf.h"
#include "json.h"

#include <string.h>

static struct json_writer
begin_trial(struct buf *out, uint64_t id, const char *label)
{
    struct json_writer w = json_begin_object(out);

    if (label != NULL)
        json_add_text(&w, "parameter_id", label);
    else
        json_add_unsigned(&w, "parameter_id", id);
    json_add_text(&w, "parameter_source", "algorithm");
    return w;
}

void
command_write_trial(struct buf *out, const struct parameter_record *r)
{
    struct json_writer w = begin_trial(out, r->id, r->label);

    buf_add(json_value(&w, "parameters"), r->parameters, r->parameters_len);
    if (!r->bare)
        json_add_unsigned(&w, "parameter_index", 0);
    if (r->resume_from != NULL)
        json_add_text(&w, "resume_from", r->resume_from);
    if (r->resume_from != NULL && r->resume_how != NULL)
        json_add_text(&w, "resume_how", r->resume_how);
    json_close(&w);
}

void
command_write_no_more(struct buf *out, uint64_t first_id, const char *label,
                      enum no_reason reason, uint64_t units, bool extensions)
{
    static const char *const reasons[] = {
        [NO_LATER] = "later",
        [NO_EXHAUSTED] = "exhausted",
        [NO_FAILED] = "failed",
    };
    struct json_writer w = begin_trial(out, first_id, label);

    json_add_text(&w, "parameters", "");
    if (label == NULL)
        json_add_unsigned(&w, "parameter_index", 0);
    if (extensions) {
        json_add_text(&w, "reason", reasons[reason]);
        json_add_unsigned(&w, "units", units);
    }
    json_close(&w);
}

void
command_write_kill(struct buf *out, const char *job)
{
    json_write_text(out, job);
}

static const char *const decisions[] = {
    [TRIAL_GO] = "go",           [TRIAL_STOP] = "stop",
    [TRIAL_PAUSE] = "pause",     [TRIAL_FINISH] = "finish",
    [TRIAL_RELEASE] = "release",
};

const char *
trial_decision_name(enum trial_decision decision)
{
    return decisions[decision];
}

bool
trial_decision_find(const char *name, enum trial_decision *out)
{
    for (size_t i = 0; i < sizeof decisions / sizeof *decisions; i++)
        if (strcmp(decisions[i], name) == 0) {
            *out = (enum trial_decision)i;
            return true;
        }
    return false;
}

void
command_write_decide(struct buf *out, const char *job,
                     enum trial_decision decision)
{
    struct json_writer w = json_begin_object(out);

    json_add_text(&w, "trial_job_id", job);
    json_add_text(&w, "decision", decisions[decision]);
    json_close(&w);
}

void
command_write_acknowledge(struct buf *out, const char *job, uint64_t sequence,
                          enum trial_decision decision)
{
    struct json_writer w = json_begin_object(out);

    json_add_text(&w, "trial_job_id", job);
    json_add_unsigned(&w, "sequence", sequence);
    json_add_text(&w, "decision", decisions[decision]);
    json_close(&w);
}

void
command_write_acknowledge_end(struct buf *out, const char *job)
{
    struct json_writer w = json_begin_object(out);

    json_add_text(&w, "trial_job_id", job);
    json_add_text(&w, "decision", "end");
    json_close(&w);
}

void
command_write_initialized(struct buf *out, uint64_t last_arrival,
                          bool extensions)
{
    struct json_writer w;

    if (!extensions)
        return;
    w = json_begin_object(out);
    json_add_unsigned(&w, "last", last_arrival);
    json_close(&w);
}

void
command_write_resumed(struct buf *out, const struct resumed *r)
{
    struct json_writer w = json_begin_object(out);

    json_add_unsigned(&w, "last", r->frames);
    json_add_unsigned(&w, "owed", r->owed);
    json_add_unsigned(&w, "resent", r->trials);
    json_add_unsigned(&w, "derived", r->derived);
    if (r->spaceless)
        json_add_bool(&w, "space", false);
    json_close(&w);
}

/* SPDX-License-Identifier: MIT */
/* The outbound half of command.h.  Keys, their order and their spelling are
 * NNI's, byte for byte; what --extensions adds stands behind them. */
#include "command.h"

#include "core/buf.h"
#include "core/number.h"
#include "json.h"

#include <string.h>

static void
write_text(struct buf *out, const char *text)
{
    json_write_string(out, text, strlen(text));
}

static void
write_u64(struct buf *out, uint64_t v)
{
    char text[NUMBER_TEXT_MAX];

    buf_add(out, text, (size_t)(number_write_u64(text, v) - text));
}

static void
write_id(struct buf *out, uint64_t id, const char *label)
{
    buf_add_text(out, "{\"parameter_id\": ");
    if (label != NULL)
        write_text(out, label);
    else
        write_u64(out, id);
    buf_add_text(out, ", \"parameter_source\": \"algorithm\", "
                      "\"parameters\": ");
}

void
command_write_trial(struct buf *out, const struct parameter_record *r)
{
    write_id(out, r->id, r->label);
    buf_add(out, r->parameters, r->parameters_len);
    if (!r->bare)
        buf_add_text(out, ", \"parameter_index\": 0");
    if (r->resume_from != NULL) {
        buf_add_text(out, ", \"resume_from\": ");
        write_text(out, r->resume_from);
    }
    if (r->resume_from != NULL && r->resume_how != NULL) {
        buf_add_text(out, ", \"resume_how\": ");
        write_text(out, r->resume_how);
    }
    buf_add_char(out, '}');
}

static void
write_reason(struct buf *out, enum no_reason reason, uint64_t units)
{
    static const char *const reasons[] = {
        [NO_LATER] = "later",
        [NO_EXHAUSTED] = "exhausted",
        [NO_FAILED] = "failed",
    };

    buf_printf(out, ", \"reason\": \"%s\", \"units\": ", reasons[reason]);
    write_u64(out, units);
}

void
command_write_no_more(struct buf *out, uint64_t first_id, const char *label,
                      enum no_reason reason, uint64_t units, bool extensions)
{
    write_id(out, first_id, label);
    buf_add_text(out, label != NULL ? "\"\"" : "\"\", \"parameter_index\": 0");
    if (extensions)
        write_reason(out, reason, units);
    buf_add_char(out, '}');
}

void
command_write_kill(struct buf *out, const char *job)
{
    write_text(out, job);
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

static void
write_decision(struct buf *out, enum trial_decision decision)
{
    buf_add_text(out, ", \"decision\": ");
    write_text(out, decisions[decision]);
    buf_add_char(out, '}');
}

void
command_write_decide(struct buf *out, const char *job,
                     enum trial_decision decision)
{
    buf_add_text(out, "{\"trial_job_id\": ");
    write_text(out, job);
    write_decision(out, decision);
}

void
command_write_acknowledge(struct buf *out, const char *job, uint64_t sequence,
                          enum trial_decision decision)
{
    buf_add_text(out, "{\"trial_job_id\": ");
    write_text(out, job);
    buf_add_text(out, ", \"sequence\": ");
    write_u64(out, sequence);
    write_decision(out, decision);
}

void
command_write_acknowledge_end(struct buf *out, const char *job)
{
    buf_add_text(out, "{\"trial_job_id\": ");
    write_text(out, job);
    buf_add_text(out, ", \"decision\": \"end\"}");
}

void
command_write_initialized(struct buf *out, uint64_t last_arrival,
                          bool extensions)
{
    if (!extensions)
        return;
    buf_add_text(out, "{\"last\": ");
    write_u64(out, last_arrival);
    buf_add_char(out, '}');
}

void
command_write_resumed(struct buf *out, const struct resumed *r)
{
    buf_add_text(out, "{\"last\": ");
    write_u64(out, r->frames);
    buf_add_text(out, ", \"owed\": ");
    write_u64(out, r->owed);
    buf_add_text(out, ", \"resent\": ");
    write_u64(out, r->trials);
    buf_add_text(out, ", \"derived\": ");
    write_u64(out, r->derived);
    buf_add_text(out, r->spaceless ? ", \"space\": false}" : "}");
}

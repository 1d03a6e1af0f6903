/* SPDX-License-Identifier: MIT */
/* describe.h - a decoded command in the words of vectors.txt. */
#ifndef TESTS_UNIT_DESCRIBE_H
#define TESTS_UNIT_DESCRIBE_H

#include "t.h"

#include "command.h"
#include "core/buf.h"
#include "json.h"

#include <inttypes.h>
#include <string.h>

static void
put_text(struct buf *out, const char *text)
{
    json_write_string(out, text, strlen(text));
}

static void
put_parameter(struct buf *out, const struct parameter_id *p)
{
    if (p->kind == PARAMETER_NUMBER)
        buf_printf(out, "%" PRIu64, p->number);
    else if (p->kind == PARAMETER_LABEL)
        put_text(out, p->label);
    else
        buf_add_text(out, "none");
}

static void
put_metric(struct buf *out, const struct metric *m)
{
    static const char *const types[] = {"PERIODICAL", "FINAL",
                                        "REQUEST_PARAMETER"};

    buf_add_text(out, "job ");
    put_text(out, m->job);
    buf_add_text(out, " parameter ");
    put_parameter(out, &m->parameter);
    buf_printf(out,
               " type %s sequence %" PRIu64 " attempt %" PRIu64 " sync %s "
               "value",
               types[m->type], m->sequence, m->attempt, m->sync ? "yes" : "no");
    if (m->base > 0)
        buf_printf(out, " from base %" PRIu64, m->base);
    if (m->has_value) {
        buf_add_char(out, ' ');
        json_write_double(out, m->value);
    } else {
        buf_printf(out, ": %s", m->problem);
    }
}

static void
put_end(struct buf *out, const struct trial_end *end)
{
    static const char *const events[] = {"SUCCEEDED",     "FAILED",
                                         "USER_CANCELED", "SYS_CANCELED",
                                         "EARLY_STOPPED", "PAUSED"};

    buf_add_text(out, "job ");
    put_text(out, end->job);
    buf_printf(out, " event %s attempt %" PRIu64 " hint ", events[end->event],
               end->attempt);
    put_parameter(out, &end->hint);
}

static void
describe_command(struct buf *out, const struct command *cmd)
{
    switch (cmd->code) {
    case CMD_INITIALIZE:
    case CMD_UPDATE_SPACE:
    case CMD_IMPORT:
    case CMD_ADD_CUSTOM:
    case CMD_NOTE:
        jval_write(json_root(cmd->document), out);
        break;
    case CMD_REQUEST_TRIALS:
        buf_printf(out, "count %" PRIu64, cmd->request.count);
        if (cmd->request.problem != NULL)
            buf_printf(out, ": %s", cmd->request.problem);
        break;
    case CMD_METRIC:
        put_metric(out, &cmd->metric);
        break;
    case CMD_TRIAL_END:
        put_end(out, &cmd->end);
        break;
    case CMD_PLAN:
        buf_printf(out, "trials %" PRIu64, cmd->planned);
        break;
    case CMD_PING:
    case CMD_TERMINATE:
        buf_add_text(out, "nothing");
        break;
    case CMD_INITIALIZED:
    case CMD_NEW_TRIAL:
    case CMD_NO_MORE:
    case CMD_KILL_TRIAL:
    case CMD_ACKNOWLEDGE:
    case CMD_DECIDE_TRIAL:
    case CMD_ERROR:
    case CMD_COUNT:
        CHECK(!"an outbound command was decoded");
    }
}

#endif

/* SPDX-License-Identifier: MIT */
/* Payloads: the first byte chooses the command, the rest is what it carries.
 * The decoder of metrics agrees with one that builds a tree; documents come
 * back from their own text; names that were read can be written. */
#include "fuzz.h"

#include "command.h"
#include "core/buf.h"
#include "core/err.h"
#include "frame.h"
#include "unit/metric_oracle.h"

#define OUT_MAX ((size_t)1 << 24)

static void
check_metric(const struct frame *f, const struct command *cmd)
{
    char job[ORACLE_TEXT_MAX], label[ORACLE_TEXT_MAX];
    struct buf payload = {.data = (char *)(uintptr_t)f->payload, .len = f->len};
    struct metric m;
    int want = oracle_decode(&payload, &m, job, label);

    MUST(want < 0 || (want == 1) == (cmd != NULL));
    MUST(want != 1 || oracle_same(&cmd->metric, &m, job, label));
}

static void
check_document(const struct json *doc)
{
    struct json *again;
    struct buf text;

    buf_init(&text, OUT_MAX);
    jval_write(json_root(doc), &text);
    MUST(!text.failed);
    again = json_parse(text.data, text.len, JSON_NAN, NULL);
    MUST(again != NULL && jval_equal(json_root(doc), json_root(again)));
    json_free(again);
    buf_fini(&text);
}

/* Payloads that carry the name of a trial. */
static void
check_job(const char *job)
{
    struct json *doc;
    const char *back = NULL;
    struct buf out;

    buf_init(&out, OUT_MAX);
    command_write_kill(&out, job);
    doc = json_parse(out.data, out.len, JSON_STRICT, NULL);
    MUST(doc != NULL && jval_string(json_root(doc), &back, NULL));
    MUST(strcmp(back, job) == 0);
    json_free(doc);
    buf_fini(&out);
}

static void
check_label(const struct parameter_id *p)
{
    struct parameter_record r = {.id = p->number,
                                 .label = p->label,
                                 .parameters = "{}",
                                 .parameters_len = 2};
    struct frame f = {.code = "AD"};
    struct command *cmd;
    struct buf out;

    if (p->kind != PARAMETER_LABEL)
        return;
    buf_init(&out, OUT_MAX);
    command_write_trial(&out, &r);
    f.payload = out.data;
    f.len = out.len;
    MUST((cmd = command_decode(&f, 1, NULL)) != NULL);
    command_free(cmd);
    buf_fini(&out);
}

static void
check_command(const struct command *cmd)
{
    struct command *half;

    switch (command_info(cmd->code)->code[0] << 8 |
            command_info(cmd->code)->code[1]) {
    case 'I' << 8 | 'N':
    case 'S' << 8 | 'S':
        check_document(cmd->space);
        break;
    case 'F' << 8 | 'D':
    case 'A' << 8 | 'D':
    case 'N' << 8 | 'T':
        check_document(cmd->document);
        break;
    case 'M' << 8 | 'E':
        check_job(cmd->metric.job);
        check_label(&cmd->metric.parameter);
        break;
    case 'E' << 8 | 'N':
        check_job(cmd->end.job);
        check_label(&cmd->end.hint);
        MUST((half = command_split_end(cmd)) != NULL);
        MUST(parameter_equal(&half->end.hint, &cmd->end.hint) ||
             half->end.hint.kind == PARAMETER_NONE);
        command_free(half);
        break;
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = {0};
    struct frame f = {.payload = (const char *)data + 1, .len = size - 1};
    const struct command_info *info;
    struct command *cmd;

    if (size < 1 || size >= ORACLE_TEXT_MAX)
        return 0;
    info = command_info(data[0] % CMD_COUNT);
    memcpy(f.code, info->code, 3);
    cmd = command_decode(&f, 1, &err);
    MUST(cmd != NULL || (err.code == ERR_INPUT && err.text[0] != '\0'));
    if (strcmp(info->code, "ME") == 0)
        check_metric(&f, cmd);
    if (cmd != NULL)
        check_command(cmd);
    command_free(cmd);
    return 0;
}

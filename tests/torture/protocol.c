/* SPDX-License-Identifier: MIT */
#include "torture.h"

#include "command.h"
#include "core/buf.h"
#include "core/err.h"
#include "frame.h"
#include "json.h"
#include "log/record.h"

#include <string.h>

/* No object has more than ten keys: json-c (0.16) loses the copy of a key when
 * the table has to grow for it and cannot. */
static int
json_there_and_back(struct err *err)
{
    static const char text[] =
        "{\"a\": [1, 2.5, true, null, \"\\u00e9\\n\"], \"b\": {\"c\": {}, "
        "\"a longer key than fits\": \"and a text that is longer than what "
        "json-c keeps within its object\"}, \"n\": 18446744073709551615, "
        "\"d\": [[[[]]]], \"k1\": 1, \"k2\": 2, \"k3\": 3, \"k4\": 4}";
    struct json *doc = json_parse(text, sizeof text - 1, JSON_UNIQUE, err);
    struct buf out;
    int rc;

    if (doc == NULL)
        return -1;
    buf_init(&out, 10000);
    jval_write(json_root(doc), &out);
    rc = buf_check(&out, "the document", err);
    buf_fini(&out);
    json_free(doc);
    return rc;
}

static int
decode(const char *code, const char *payload, struct err *err)
{
    struct frame f = {.payload = payload, .len = strlen(payload)};
    struct command *cmd, *half = NULL;
    int rc = 0;

    memcpy(f.code, code, 3);
    cmd = command_decode(&f, 1, err);
    if (cmd == NULL) /* the router stops for this code, and for no other */
        return err->code == ERR_MEMORY
                   ? -1
                   : err_set(err, ERR_INPUT, "code %d", (int)err->code);
    if (strcmp(code, "EN") == 0 && (half = command_split_end(cmd)) == NULL)
        rc = err_set(err, ERR_MEMORY, "command_split_end: no memory");
    command_free(half);
    command_free(cmd);
    return rc;
}

#define DECODES(name, code, payload)       \
    static int name(struct err *err)       \
    {                                      \
        return decode(code, payload, err); \
    }

DECODES(initialize, "IN",
        "{\"x\": {\"_type\": \"uniform\", \"_value\": [0, 1]}}")
DECODES(request, "GE", "12")
DECODES(update, "SS", "{\"a\": {\"_type\": \"choice\", \"_value\": [1, 2]}}")
DECODES(metric, "ME",
        "{\"parameter_id\": 3, \"trial_job_id\": \"Z1Lxd\", \"type\": "
        "\"PERIODICAL\", \"sequence\": 0, \"value\": \"0.93\"}")
DECODES(metric_label, "ME",
        "{\"parameter_id\": \"0-\\u00e9_5\", \"trial_job_id\": \"a\\\"b\", "
        "\"type\": \"FINAL\", \"sequence\": 0, \"value\": "
        "\"{\\\"default\\\": 0.5, \\\"x\\\": [0]}\"}")
DECODES(end, "EN",
        "{\"trial_job_id\": \"Z1Lxd\", \"event\": \"SUCCEEDED\", "
        "\"hyper_params\": \"{\\\"parameter_id\\\": \\\"0-3\\\", "
        "\\\"parameters\\\": {\\\"x\\\": 1}}\"}")
DECODES(import, "FD",
        "[{\"parameter\": {\"x\": 5}, \"value\": \"0.475\"}, {\"parameter\": "
        "{\"x\": 0}, \"value\": {\"default\": 0.9}}]")
DECODES(custom, "AD",
        "[\"{\\\"parameter_id\\\": 5, \\\"parameters\\\": {\\\"x\\\": 5.0}}\", "
        "{\"parameter_id\": 6, \"parameters\": {\"x\": 5.0}}]")
DECODES(note, "NT", "{\"event\": \"x\", \"n\": [1, 2.5]}")
DECODES(ping, "PI", "")

static int
written(struct err *err)
{
    struct parameter_record r = {.id = 7,
                                 .label = "a \"label\"",
                                 .parameters = "{}",
                                 .parameters_len = 2,
                                 .resume_from = "Z1Lxd",
                                 .resume_how = "promoted"};
    struct buf out;
    int rc;

    buf_init(&out, 10000);
    command_write_trial(&out, &r);
    command_write_no_more(&out, 7, NULL, NO_LATER, 2, true);
    command_write_no_more(&out, 0, "7", NO_FAILED, 1, true);
    command_write_kill(&out, "Z1Lxd");
    command_write_decide(&out, "Z1Lxd", TRIAL_PAUSE);
    command_write_acknowledge(&out, "Z1Lxd", 3, TRIAL_STOP);
    command_write_initialized(&out, 9, true);
    frame_encode(&out, FRAME_DIGITS, "TR", "{}", 2);
    record_write_version(&out);
    record_encode(&out, RECORD_IN, 1, 1, "GE1", 3);
    record_encode2(&out, RECORD_TUNER, 1, 1, "TR", 2, "{}", 2);
    rc = buf_check(&out, "the payloads", err);
    buf_fini(&out);
    return rc;
}

static int
copied(struct err *err)
{
    struct parameter_id from = {PARAMETER_LABEL, 0, (char[]){"0-3"}}, to;

    if (parameter_copy(&to, &from) != 0)
        return err_set(err, ERR_MEMORY, "parameter_copy: no memory");
    parameter_clear(&to);
    return 0;
}

static int
frames(struct err *err)
{
    static const char bytes[] = "GE000000000000011PI00000000000000";
    struct frame_decoder d;
    struct frame f;
    size_t room, at = 0, n_frames = 0;
    char *to = NULL;

    frame_decoder_init(&d, FRAME_DIGITS, 100);
    while (at < sizeof bytes - 1 && (to = frame_room(&d, &room)) != NULL) {
        memset(to, 'x', room); /* as much as it says */
        *to = bytes[at++];
        frame_filled(&d, 1);
        n_frames += frame_next(&d, &f, err) == FRAME_READY;
    }
    frame_decoder_fini(&d);
    if (to == NULL)
        return err_set(err, ERR_MEMORY, "frame_room");
    return n_frames == 2 ? 0 : err_set(err, ERR_INPUT, "%zu frames", n_frames);
}

const struct torture_case torture_protocol[] = {
    {"protocol_json", json_there_and_back, 0},
    {"protocol_initialize", initialize, 0},
    {"protocol_request", request, 0},
    {"protocol_update", update, 0},
    {"protocol_metric", metric, 0},
    {"protocol_metric_label", metric_label, 0},
    {"protocol_end", end, 0},
    {"protocol_import", import, 0},
    {"protocol_custom", custom, 0},
    {"protocol_note", note, 0},
    {"protocol_ping", ping, 0},
    {"protocol_write", written, 0},
    {"protocol_parameter", copied, 0},
    {"protocol_frames", frames, 1},
    {NULL, NULL, 0}};

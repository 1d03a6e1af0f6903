/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "command_helpers.h"

#include "command.h"
#include "core/buf.h"
#include "core/err.h"
#include "json.h"

#include <stdio.h>
#include <string.h>

TEST(command_table_is_complete)
{
    for (int i = 0; i < CMD_COUNT; i++) {
        const struct command_info *info = command_info((enum command_code)i);
        enum command_code code = CMD_COUNT;

        CHECK_EQ(strlen(info->code), 2);
        CHECK(strlen(info->name) > 0 && strlen(info->doc) > 0);
        CHECK(command_find(info->code, &code) == info);
        CHECK_EQ(code, i);
    }
    CHECK(command_info(CMD_COUNT) == NULL);
    CHECK_STR(command_info(CMD_METRIC)->code, "ME");
    CHECK_EQ(command_info(CMD_METRIC)->queue, QUEUE_SPLIT);
    CHECK_EQ(command_info(CMD_KILL_TRIAL)->direction, DIRECTION_OUT);
}

TEST(command_unknown_codes_name_the_known_ones)
{
    refuses("XX", "",
            "unknown command 'XX': expected one of IN GE ME SS FD AD "
            "EN PI TE NT PL");
    refuses("TR", "{}",
            "TR goes from the dispatcher to the manager, never the "
            "other way");
    refuses("KI", "",
            "KI goes from the dispatcher to the manager, never the "
            "other way");
}

TEST(command_end_fields)
{
    static const char *const events[] = {"SUCCEEDED", "FAILED", "USER_CANCELED",
                                         "SYS_CANCELED", "EARLY_STOPPED"};
    struct command *cmd;
    char payload[200];

    for (int i = 0; i < 5; i++) {
        snprintf(payload, sizeof payload,
                 "{\"trial_job_id\":\"ExCBx\",\"event\":\"%s\",\"hyper_params\""
                 ":\"{\\\"parameter_id\\\": 3, \\\"parameters\\\": {}}\"}",
                 events[i]);
        cmd = decode("EN", payload);
        CHECK_EQ(cmd->code, CMD_TRIAL_END);
        CHECK_STR(cmd->end.job, "ExCBx");
        CHECK_EQ(cmd->end.event, i);
        CHECK_EQ(cmd->end.hint.kind, PARAMETER_NUMBER);
        CHECK_EQ(cmd->end.hint.number, 3);
        CHECK_EQ(cmd->end.parameter.kind, PARAMETER_NONE);
        CHECK(!cmd->tuner_half && !cmd->end.has_marks);
        command_free(cmd);
    }
    cmd = decode("EN", "{\"trial_job_id\":\"a\",\"event\":\"FAILED\","
                       "\"attempt\":3,\"hyper_params\":"
                       "\"{\\\"parameter_id\\\": \\\"0-1_0\\\\u005f2\\\"}\"}");
    CHECK_EQ(cmd->end.hint.kind, PARAMETER_LABEL);
    CHECK_STR(cmd->end.hint.label, "0-1_0_2");
    CHECK_EQ(cmd->end.attempt, 3);
    command_free(cmd);
}

TEST(command_end_bad_hyper_params_cost_only_the_hint)
{
    static const char *const hypers[] = {
        "\"\"",
        "\"abc\"",
        "null",
        "7",
        "[]",
        "{}",
        "\"{}\"",
        "\"[1]\"",
        "\"{\\\"parameter_id\\\": null}\"",
        "\"{\\\"parameter_id\\\": -1}\"",
        "\"{\\\"parameter_id\\\": 1.5}\"",
        "\"{\\\"parameter_id\\\": \"",
        "\"{\\\"parameter_id\\\": \\\"a\\\\u0000\\\"}\"",
    };
    struct command *cmd;
    char payload[200];

    for (size_t i = 0; i < sizeof hypers / sizeof *hypers; i++) {
        snprintf(payload, sizeof payload,
                 "{\"trial_job_id\":\"a\",\"event\":\"FAILED\","
                 "\"hyper_params\":%s}",
                 hypers[i]);
        cmd = decode("EN", payload);
        CHECK_EQ(cmd->end.hint.kind, PARAMETER_NONE);
        CHECK(cmd->end.hint.label == NULL);
        command_free(cmd);
    }
    cmd = decode("EN", "{\"trial_job_id\":\"a\",\"event\":\"FAILED\"}");
    CHECK_EQ(cmd->end.hint.kind, PARAMETER_NONE);
    command_free(cmd);
}

TEST(command_end_errors)
{
    refuses(
        "EN", "{\"trial_job_id\":\"a\",\"event\":\"SUCEEDED\"}",
        "byte 28: event: expected SUCCEEDED, FAILED, USER_CANCELED, "
        "SYS_CANCELED, EARLY_STOPPED or PAUSED, not 'SUCEEDED' (did you mean "
        "'SUCCEEDED'?)");
    refuses("EN", "{\"event\":\"FAILED\"}",
            "byte 0: expected an object with the key 'trial_job_id', a string "
            "that is not empty");
    refuses("EN", "{\"trial_job_id\":5,\"event\":\"FAILED\"}",
            "byte 16: trial_job_id: expected a string that is not empty, not "
            "'5'");
    refuses(
        "EN",
        "{\"trial_job_id\":\"a\",\"event\":\"FAILED\",\"attempt\":"
        "\"1\"}",
        "byte 47: attempt: expected a whole number of at least 0, not '\"1\"'");
}

TEST(command_end_is_split_with_its_stamp)
{
    struct command *cmd =
        decode("EN", "{\"trial_job_id\":\"a\",\"event\":\"EARLY_STOPPED\","
                     "\"hyper_params\":\"{\\\"parameter_id\\\":\\\"L\\\"}\"}");
    struct command *half;

    CHECK_EQ(parameter_copy(&cmd->end.parameter, &cmd->end.hint), 0);
    CHECK(cmd->end.parameter.label != cmd->end.hint.label);
    cmd->end.stopped = cmd->end.has_marks = true;
    cmd->end.lowest = (struct mark){.value = 0.25, .step = 3};
    half = command_split_end(cmd);
    command_free(cmd);
    CHECK(half->tuner_half && half->end.stopped && half->end.has_marks);
    CHECK_EQ(half->code, CMD_TRIAL_END);
    CHECK_EQ(half->arrival, 7);
    CHECK_STR(half->end.job, "a");
    CHECK_STR(half->end.hint.label, "L");
    CHECK_STR(half->end.parameter.label, "L");
    CHECK(half->end.lowest.value == 0.25 && half->end.lowest.step == 3);
    command_free(half);
    command_free(NULL);
}

TEST(command_parameters_compare)
{
    char x[] = "0", y[] = "0";
    struct parameter_id none = {0}, zero = {.kind = PARAMETER_NUMBER};
    struct parameter_id a = {.kind = PARAMETER_LABEL, .label = x}, b = a, c;

    b.label = y;
    CHECK(parameter_equal(&a, &b) && parameter_equal(&none, &none));
    CHECK(!parameter_equal(&zero, &a) && !parameter_equal(&none, &zero));
    y[0] = '1';
    CHECK(!parameter_equal(&a, &b));
    CHECK(parameter_copy(&c, &zero) == 0 && parameter_equal(&c, &zero));
    parameter_clear(&c);
    CHECK_EQ(c.kind, PARAMETER_NONE);
}

#define GOT_COUNT "expected a count from 1 to 65536, got "

static void
count(const char *payload, uint64_t want, const char *problem)
{
    struct command *cmd = decode("GE", payload);

    CHECK_EQ(cmd->code, CMD_REQUEST_TRIALS);
    CHECK_EQ(cmd->request.count, want);
    if (problem == NULL)
        CHECK(cmd->request.problem == NULL);
    else
        CHECK_STR(cmd->request.problem, problem);
    command_free(cmd);
}

TEST(command_request_is_never_refused)
{
    count("1", 1, NULL);
    count("0004", 4, NULL);
    count("65536", 65536, NULL);
    count("65537", 0, GOT_COUNT "'65537'");
    count("99999999999999999999999999", 0,
          GOT_COUNT "'99999999999999999999999999'");
    count("0", 0, GOT_COUNT "'0'");
    count("", 0, GOT_COUNT "nothing");
    count("-1", 0, GOT_COUNT "'-1'");
    count("\"4\"", 0, GOT_COUNT "'\"4\"'");
    count("4\n", 0, GOT_COUNT "'4\\x0a'");
    count("1.5", 0, GOT_COUNT "'1.5'");
}

TEST(command_space)
{
    struct command *cmd =
        decode("IN", "{ # rates\n\"lr\": {\"_type\": \"uniform\"} // x\n}\n");
    struct jval v;

    CHECK_EQ(cmd->code, CMD_INITIALIZE);
    CHECK(jval_get(json_root(cmd->space), "lr", &v));
    command_free(cmd);
    cmd = decode("SS", "{}");
    CHECK_EQ(cmd->code, CMD_UPDATE_SPACE);
    command_free(cmd);
    refuses("IN", "", "byte 0: empty: expected a search space, an object");
    refuses("IN", "[]",
            "byte 0: expected a search space, an object, not an array");
    refuses_at("SS", "{\"x\":NaN}", "byte 5: ");
    refuses("SS", "null",
            "byte 0: expected a search space, an object, not "
            "null");
}

static void
records(const char *code, const char *payload, const char *want)
{
    struct command *cmd = decode(code, payload);
    struct buf text;

    buf_init(&text, 1000);
    jval_write(json_root(cmd->document), &text);
    CHECK_STR(buf_text(&text), want);
    buf_fini(&text);
    command_free(cmd);
}

TEST(command_import)
{
    records("FD", "[]", "[]");
    records("FD",
            "[{\"parameter\":{\"x\":1},\"value\":\"0.4\",\"trialJobId\":\"T\"},"
            "{\"parameter\":{},\"value\":{\"default\":NaN}}]",
            "[{\"parameter\": {\"x\": 1}, \"value\": \"0.4\", \"trialJobId\": "
            "\"T\"}, {\"parameter\": {}, \"value\": {\"default\": NaN}}]");
    refuses("FD", "", "byte 0: empty: expected an array of finished trials");
    refuses("FD", "{}",
            "byte 0: expected an array of finished trials, not an object");
    refuses("FD", "[{},7]",
            "element 1: expected a finished trial, an object, not an integer");
}

TEST(command_custom_takes_three_forms)
{
    records("AD", "[]", "[]");
    records("AD", "[ {\"parameter_id\":5} , {\"a\":[1]}]",
            "[{\"parameter_id\": 5}, {\"a\": [1]}]");
    records("AD", "[\"{\\\"parameter_id\\\": 5}\",{\"a\":\"\\u00e9,]\"}]",
            "[{\"parameter_id\": 5}, {\"a\": \"\\u00e9,]\"}]");
    records("AD", " {\"a\":1} ", "[{\"a\": 1}]");
    refuses("AD", "", "byte 0: empty: expected an array of trial records");
    refuses("AD", "\"{}\"",
            "byte 0: expected an array of trial records, not a string");
    refuses("AD", "[1]",
            "element 0: expected a trial record, an object, not an integer");
    refuses("AD", "[{},\"{},{}\"]",
            "element 1, JSON in a string: byte 2: expected the end of the "
            "text, not ','");
    refuses("AD", "[{},\"\"]",
            "element 1, JSON in a string: byte 0: expected a value, not the "
            "end");
    refuses_at("AD", "[{},", "byte 4: ");
}

TEST(command_note_and_empty_payloads)
{
    records("NT", "{\"event\":\"started\",\"trial_job_id\":\"a\",\"pid\":7}",
            "{\"event\": \"started\", \"trial_job_id\": \"a\", \"pid\": 7}");
    refuses("NT", "{\"event\":7}",
            "byte 0: expected an object with the key 'event', a string");
    refuses("NT", "[]", "byte 0: expected a note, an object, not an array");
    refuses("NT", "", "byte 0: empty: expected a note, an object");
    command_free(decode("PI", ""));
    command_free(decode("TE", ""));
    command_free(decode("PI", "whatever"));
}

TEST(command_writes_what_nni_writes)
{
    static const char x[] = "{\"lr\": 0.01}";
    struct parameter_record r = {
        .id = 7, .parameters = x, .parameters_len = sizeof x - 1};
    struct buf out;

#define WRITES(call, want)               \
    do {                                 \
        buf_clear(&out);                 \
        call;                            \
        CHECK_STR(buf_text(&out), want); \
    } while (0)
    buf_init(&out, 10000);
    WRITES(command_write_trial(&out, &r),
           "{\"parameter_id\": 7, \"parameter_source\": \"algorithm\", "
           "\"parameters\": {\"lr\": 0.01}, \"parameter_index\": 0}");
    r.label = "0-3_0_1";
    r.resume_from = "AbC";
    WRITES(command_write_trial(&out, &r),
           "{\"parameter_id\": \"0-3_0_1\", \"parameter_source\": "
           "\"algorithm\", \"parameters\": {\"lr\": 0.01}, "
           "\"parameter_index\": 0, \"resume_from\": \"AbC\"}");
    WRITES(command_write_no_more(&out, 10, NULL, NO_LATER, 2, false),
           "{\"parameter_id\": 10, \"parameter_source\": \"algorithm\", "
           "\"parameters\": \"\", \"parameter_index\": 0}");
    WRITES(command_write_no_more(&out, 10, NULL, NO_EXHAUSTED, 2, true),
           "{\"parameter_id\": 10, \"parameter_source\": \"algorithm\", "
           "\"parameters\": \"\", \"parameter_index\": 0, \"reason\": "
           "\"exhausted\", \"units\": 2}");
    WRITES(command_write_no_more(&out, 0, "-1_0_0", NO_LATER, 1, false),
           "{\"parameter_id\": \"-1_0_0\", \"parameter_source\": "
           "\"algorithm\", \"parameters\": \"\"}");
    WRITES(command_write_no_more(&out, 0, "-1_0_0", NO_FAILED, 1, true),
           "{\"parameter_id\": \"-1_0_0\", \"parameter_source\": "
           "\"algorithm\", \"parameters\": \"\", \"reason\": \"failed\", "
           "\"units\": 1}");
    WRITES(command_write_kill(&out, "ExCBx"), "\"ExCBx\"");
    WRITES(command_write_kill(&out, "a\"\xc3\xa9"), "\"a\\\"\\u00e9\"");
    WRITES(command_write_acknowledge(&out, "a", 12, true),
           "{\"trial_job_id\": \"a\", \"sequence\": 12, \"decision\": "
           "\"stop\"}");
    WRITES(command_write_acknowledge(&out, "a", 0, false),
           "{\"trial_job_id\": \"a\", \"sequence\": 0, \"decision\": \"go\"}");
    WRITES(command_write_initialized(&out, 5, false), "");
    WRITES(command_write_initialized(&out, 5, true), "{\"last\": 5}");
#undef WRITES
    buf_fini(&out);
}

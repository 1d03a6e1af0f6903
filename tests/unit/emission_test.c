/* SPDX-License-Identifier: MIT */
#include "dispatcher/emission.h"

#include "dispatcher_help.h"

/* What the fields of e become; borrowed until the next call. */
static const char *
encoded(struct emission e, bool extensions)
{
    static struct buf text;

    text.max = 1 << 20;
    CHECK_EQ(emission_encode(&e, extensions, &text), 0);
    CHECK_EQ(e.len, text.len);
    return buf_text(&text);
}

TEST(emission_writes_the_fact_of_its_fields)
{
    struct emission no = {.code = CMD_NO_MORE,
                          .parameter = parameter_named(4, NULL),
                          .reason = NO_EXHAUSTED,
                          .units = 2};
    struct emission word = {.job = "A\n", .number = 3, .decision = TRIAL_PAUSE};

    CHECK_STR(encoded(no, false), "{\"parameter_id\": 4, \"parameter_source\": "
                                  "\"algorithm\", \"parameters\": \"\", "
                                  "\"parameter_index\": 0}");
    no.parameter = parameter_named(0, "-1_0_0");
    CHECK_STR(encoded(no, true),
              "{\"parameter_id\": \"-1_0_0\", \"parameter_source\": "
              "\"algorithm\", \"parameters\": \"\", \"reason\": "
              "\"exhausted\", \"units\": 2}");
    word.code = CMD_KILL_TRIAL;
    CHECK_STR(encoded(word, false), "\"A\\n\"");
    word.code = CMD_DECIDE_TRIAL;
    CHECK_STR(encoded(word, true),
              "{\"trial_job_id\": \"A\\n\", \"decision\": \"pause\"}");
    word.code = CMD_ACKNOWLEDGE;
    CHECK_STR(encoded(word, true), "{\"trial_job_id\": \"A\\n\", \"sequence\": "
                                   "3, \"decision\": \"pause\"}");
    word.ends = true;
    CHECK_STR(encoded(word, true),
              "{\"trial_job_id\": \"A\\n\", \"decision\": \"end\"}");
    word.code = CMD_INITIALIZED;
    CHECK_STR(encoded(word, false), "");
    CHECK_STR(encoded(word, true), "{\"last\": 3}");
}

/* What a frame is about, as its bytes say. */
static const char *
about(enum command_code code, const char *payload)
{
    static char text[100];
    const struct emission e = help_said(SENDER_DEFAULT, 1, code, payload);

    if (e.parameter.kind == PARAMETER_NUMBER)
        snprintf(text, sizeof text, "%" PRIu64, e.parameter.number);
    else if (e.job != NULL && code == CMD_DECIDE_TRIAL)
        snprintf(text, sizeof text, "%s %s", trial_decision_name(e.decision),
                 e.job);
    else
        snprintf(text, sizeof text, "%s",
                 e.job != NULL               ? e.job
                 : e.parameter.label != NULL ? e.parameter.label
                                             : "nothing");
    return text;
}

TEST(emission_reads_back_what_an_earlier_process_wrote)
{
    struct parameter_record r = {
        .id = 7, .parameters = "{\"x\": 1}", .parameters_len = 8};
    struct emission e = {.code = CMD_NEW_TRIAL, .gives = &r};

    CHECK_STR(about(CMD_NEW_TRIAL, encoded(e, true)), "7");
    r.label = "0-\xc3\xa4\n";
    CHECK_STR(about(CMD_NEW_TRIAL, encoded(e, true)), r.label);
    e = (struct emission){.job = "B\n", .decision = TRIAL_FINISH};
    e.code = CMD_KILL_TRIAL;
    CHECK_STR(about(CMD_KILL_TRIAL, encoded(e, true)), "B\n");
    e.code = CMD_DECIDE_TRIAL;
    CHECK_STR(about(CMD_DECIDE_TRIAL, encoded(e, true)), "finish B\n");
}

TEST(emission_reads_nothing_from_what_is_none_of_ours)
{
    static const char *const trials[] = {"",
                                         "{",
                                         "{\"parameter_id\": ",
                                         "{\"parameter_id\": null}",
                                         "{\"parameter_id\": -1}",
                                         "{\"parameter_id\": 1.5}",
                                         "{\"parameter_id\": \"0-"};
    static const char *const kills[] = {"", "broken", "17", "{}"};

    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++)
        CHECK_STR(about(CMD_NEW_TRIAL, trials[i]), "nothing");
    for (size_t i = 0; i < sizeof kills / sizeof *kills; i++) {
        CHECK_STR(about(CMD_KILL_TRIAL, kills[i]), "nothing");
        CHECK_STR(about(CMD_DECIDE_TRIAL, kills[i]), "nothing");
    }
    CHECK_STR(about(CMD_DECIDE_TRIAL, "{\"trial_job_id\": \"A\"}"),
              "release A");
}

TEST(emission_copy_borrows_nothing)
{
    char label[] = "0-1", job[] = "A", payload[] = "{}";
    struct emission e = {.code = CMD_NEW_TRIAL,
                         .parameter = parameter_named(0, label),
                         .job = job,
                         .payload = payload,
                         .len = 2};
    struct emission *copy = emission_copy(&e);

    label[0] = job[0] = payload[0] = 'x';
    CHECK_STR(copy->parameter.label, "0-1");
    CHECK_STR(copy->job, "A");
    CHECK(copy->len == 2 && memcmp(copy->payload, "{}", 2) == 0);
    CHECK(copy->next == NULL && copy->previous == NULL);
    free(copy);
}

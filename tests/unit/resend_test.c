/* SPDX-License-Identifier: MIT */
#include "dispatcher/resend.h"

#include "core/pack.h"
#include "dispatcher_help.h"

static void
wrote(struct resend *r, enum sender sender, const char *code,
      const char *payload)
{
    enum command_code which;
    struct emission e;

    CHECK(command_find(code, &which) != NULL);
    e = help_said(sender, 7, which, payload);
    resend_written(r, &e);
}

static void
came(struct resend *r, const char *code, const char *payload)
{
    struct frame frame = help_frame(code, payload);
    struct err err;
    struct command *cmd = command_decode(&frame, 8, &err);

    CHECK(cmd != NULL);
    resend_command(r, cmd);
    command_free(cmd);
}

/* The payloads, a line each; borrowed until the next call. */
static const char *
kept(const struct resend *r)
{
    static char text[4096];
    size_t at = 0;

    text[0] = '\0';
    for (const struct emission *e = r->first; e != NULL; e = e->next)
        at += (size_t)snprintf(text + at, sizeof text - at, "%.*s\n",
                               (int)e->len, e->payload);
    CHECK(!r->failed);
    return text;
}

TEST(resend_keeps_what_may_not_have_been_read)
{
    struct resend r;

    resend_init(&r);
    wrote(&r, SENDER_DEFAULT, "TR", "{\"parameter_id\": 1, \"a\": 1}");
    wrote(&r, SENDER_DEFAULT, "TR", "{\"parameter_id\": 12, \"a\": 2}");
    wrote(&r, SENDER_DEFAULT, "TR", "{\"parameter_id\": 12, \"a\": 3}");
    wrote(&r, SENDER_DEFAULT, "TR", "{\"parameter_id\": \"0-\\u00e4\"}");
    wrote(&r, SENDER_ASSESSOR, "KI", "\"A\"");
    wrote(&r, SENDER_ASSESSOR, "KI", "\"B\\n\"");
    wrote(&r, SENDER_ROUTER, "KI", "\"C\"");
    wrote(&r, SENDER_DEFAULT, "NO", "{\"parameter_id\": 3}");
    CHECK_STR(kept(&r), "{\"parameter_id\": 1, \"a\": 1}\n"
                        "{\"parameter_id\": 12, \"a\": 2}\n"
                        "{\"parameter_id\": \"0-\\u00e4\"}\n"
                        "\"A\"\n\"B\\n\"\n");
    CHECK_EQ(r.trials, 3);
    came(&r, "NT", "{\"event\": \"exited\", \"parameter_id\": 1}");
    CHECK_EQ(r.trials, 3);
    came(&r, "NT", "{\"event\": \"started\", \"parameter_id\": 1}");
    came(&r, "NT",
         "{\"event\": \"started\", \"parameter_id\": "
         "\"0-\xc3\xa4\"}");
    came(&r, "NT", "{\"event\": \"started\", \"trial_job_id\": \"A\"}");
    CHECK_STR(kept(&r), "{\"parameter_id\": 12, \"a\": 2}\n\"A\"\n\"B\\n\"\n");
    came(&r, "EN",
         "{\"trial_job_id\": \"B\\n\", \"event\": \"FAILED\", "
         "\"hyper_params\": \"{\\\"parameter_id\\\": 12}\"}");
    CHECK_STR(kept(&r), "\"A\"\n");
    came(&r, "EN", "{\"trial_job_id\": \"A\", \"event\": \"FAILED\"}");
    CHECK_STR(kept(&r), "");
    CHECK_EQ(r.trials, 0);
    resend_fini(&r);
}

#define PAUSE(job) "{\"trial_job_id\": \"" job "\", \"decision\": \"pause\"}"
#define FINISH(job) "{\"trial_job_id\": \"" job "\", \"decision\": \"finish\"}"
#define RELEASE(job) \
    "{\"trial_job_id\": \"" job "\", \"decision\": \"release\"}"

TEST(resend_keeps_decisions_on_trials_that_have_not_ended)
{
    struct resend r;

    resend_init(&r);
    wrote(&r, SENDER_DEFAULT, "DT", PAUSE("A"));
    wrote(&r, SENDER_DEFAULT, "DT", PAUSE("A"));
    wrote(&r, SENDER_DEFAULT, "DT", FINISH("A"));
    wrote(&r, SENDER_DEFAULT, "KI", "\"A\"");
    wrote(&r, SENDER_DEFAULT, "DT", FINISH("B\\n"));
    wrote(&r, SENDER_DEFAULT, "DT", RELEASE("C"));
    wrote(&r, SENDER_DEFAULT, "DT", "{\"trial_job_id\": \"D\"}");
    wrote(&r, SENDER_DEFAULT, "DT", "broken");
    CHECK_STR(kept(&r),
              PAUSE("A") "\n" FINISH("A") "\n\"A\"\n" FINISH("B\\n") "\n");
    CHECK_EQ(r.trials, 0);
    came(&r, "EN", "{\"trial_job_id\": \"A\", \"event\": \"PAUSED\"}");
    CHECK_STR(kept(&r), FINISH("B\\n") "\n");
    came(&r, "EN", "{\"trial_job_id\": \"B\\n\", \"event\": \"FAILED\"}");
    CHECK_STR(kept(&r), "");
    resend_fini(&r);
}

TEST(resend_passes_over_what_is_none_of_ours)
{
    struct resend r;

    resend_init(&r);
    wrote(&r, SENDER_DEFAULT, "TR", "");
    wrote(&r, SENDER_DEFAULT, "TR", "{\"parameter_id\": ");
    wrote(&r, SENDER_DEFAULT, "TR", "{\"parameter_id\": null}");
    wrote(&r, SENDER_DEFAULT, "TR", "{\"parameter_id\": 1.5}");
    wrote(&r, SENDER_ASSESSOR, "KI", "");
    wrote(&r, SENDER_ASSESSOR, "KI", "17");
    CHECK_STR(kept(&r), "");
    resend_fini(&r);
}

static void
fill(struct resend *r)
{
    resend_init(r);
    wrote(r, SENDER_DEFAULT, "TR", "{\"parameter_id\": 9, \"a\": 1}");
    wrote(r, SENDER_ASSESSOR, "KI", "\"A\"");
    wrote(r, SENDER_DEFAULT, "TR", "{\"parameter_id\": \"x\", \"a\": 2}");
    wrote(r, SENDER_DEFAULT, "DT", PAUSE("A"));
}

TEST(resend_comes_back_in_its_order)
{
    struct buf first, again;
    struct resend r, back;
    struct unpack in;

    fill(&r);
    buf_init(&first, 1 << 16);
    buf_init(&again, 1 << 16);
    resend_save(&r, &first);
    resend_init(&back);
    in = unpack_from(first.data, first.len);
    CHECK_EQ(resend_load(&back, &in), 0);
    CHECK(unpack_done(&in));
    CHECK_EQ(back.trials, 2);
    CHECK_EQ(back.first->cause, 7);
    CHECK_EQ(back.first->next->sender, SENDER_ASSESSOR);
    CHECK_EQ(back.first->next->code, CMD_KILL_TRIAL);
    CHECK_EQ(back.last->code, CMD_DECIDE_TRIAL);
    resend_save(&back, &again);
    CHECK(first.len == again.len &&
          memcmp(first.data, again.data, first.len) == 0);
    came(&back, "NT", "{\"event\": \"started\", \"parameter_id\": \"x\"}");
    CHECK_STR(kept(&back),
              "{\"parameter_id\": 9, \"a\": 1}\n\"A\"\n" PAUSE("A") "\n");
    for (size_t len = 0; len < first.len; len++) {
        struct resend cut;

        resend_init(&cut);
        in = unpack_from(first.data, len);
        CHECK_EQ(resend_load(&cut, &in), -1);
        resend_fini(&cut);
    }
    for (uint64_t code = 3; code < 5; code++) { /* of which there are three */
        struct resend other;

        first.len = sizeof(uint64_t) * 2;
        pack_u64(&first, code);
        first.len = again.len;
        resend_init(&other);
        in = unpack_from(first.data, first.len);
        CHECK_EQ(resend_load(&other, &in), -1);
        resend_fini(&other);
    }
    buf_fini(&first);
    buf_fini(&again);
    resend_fini(&r);
    resend_fini(&back);
}

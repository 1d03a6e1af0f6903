/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "config/experiment.h"
#include "core/err.h"
#include "core/file.h"
#include "manager/checkpoints.h"
#include "manager/trial.h"
#include "trial/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct checkpoint_policy last = {.keep = CHECKPOINTS_LAST};
static const struct checkpoint_policy all = {.keep = CHECKPOINTS_ALL};
static const struct checkpoint_policy none = {.keep = CHECKPOINTS_NONE};

static struct checkpoints
make(const struct checkpoint_policy *policy)
{
    struct checkpoints c;
    char here[4096];

    CHECK(getcwd(here, sizeof here) != NULL);
    CHECK_EQ(checkpoints_open(&c, here, policy, false, NULL), 0);
    return c;
}

static struct trial *
trial(uint64_t number, const char *parameters)
{
    struct trial *t = trial_new(number, "", 0, "0", parameters);

    CHECK(t != NULL);
    return t;
}

/* The trial saves a checkpoint of this number behind so many reports. */
static void
save(struct checkpoints *c, const struct trial *t, uint64_t number,
     uint64_t reports)
{
    char path[256];
    int len;

    snprintf(path, sizeof path, TRIAL_CHECKPOINTS "/%s/%llu", t->id,
             (unsigned long long)number);
    CHECK_EQ(file_make_folder(path, NULL), 0);
    len = (int)strlen(path);
    snprintf(path + len, sizeof path - (size_t)len, "/model");
    CHECK_EQ(file_write(path, path, strlen(path), NULL), 0);
    checkpoints_saved(c, t, number, reports);
}

static bool
is_there(const char *path)
{
    char full[256];

    snprintf(full, sizeof full, TRIAL_CHECKPOINTS "/%s", path);
    return access(full, F_OK) == 0;
}

static ino_t
inode(const char *path)
{
    char full[256];
    struct stat st = {0};

    snprintf(full, sizeof full, TRIAL_CHECKPOINTS "/%s", path);
    CHECK_EQ(stat(full, &st), 0);
    return st.st_ino;
}

static void
pause_it(struct checkpoints *c, struct trial *t)
{
    t->state = TRIAL_PAUSED;
    checkpoints_ended(c, t);
}

TEST(manager_checkpoints_are_handed_on_with_their_steps)
{
    struct checkpoints c = make(&last);
    struct trial *a = trial(0, "{\"TRIAL_BUDGET\": 3}");
    struct trial *b = trial(1, "{}"), *d = trial(2, "{}");

    CHECK_EQ(checkpoints_begin(&c, a, true, NULL), 0);
    CHECK_EQ(a->restore, 0);
    save(&c, a, 1, 2);
    pause_it(&c, a);
    CHECK(is_there("00000/1/model") && !is_there("00000/saving.0"));

    b->origin = (struct origin){.how = ORIGIN_CLONED, .from = 0};
    CHECK(checkpoints_to_copy(&c, b) > 0);
    CHECK_EQ(checkpoints_begin(&c, b, true, NULL), 0);
    CHECK_EQ(checkpoints_to_copy(&c, b), 0);
    CHECK_EQ(b->restore, 1);
    CHECK_EQ(b->step, 2);
    CHECK(inode("00000/1/model") != inode("00001/1/model"));
    save(&c, b, 2, 3); /* of its own */
    CHECK(!is_there("00001/1"));

    d->origin = (struct origin){.how = ORIGIN_PROMOTED, .from = 1};
    CHECK_EQ(checkpoints_to_copy(&c, d), 0); /* links do */
    CHECK_EQ(checkpoints_begin(&c, d, true, NULL), 0);
    CHECK_EQ(d->restore, 1);
    CHECK_EQ(d->step, 5); /* two and three */
    CHECK(inode("00001/2/model") == inode("00002/1/model"));
    trial_free(a);
    trial_free(b);
    trial_free(d);
    checkpoints_close(&c);
}

/* Whether who goes on from a trial that saved behind so many of its reports is
 * told to do a step twice. */
static bool
is_early(uint64_t saved, uint64_t reported, const char *parameters)
{
    struct checkpoints c = make(&last);
    struct trial *a = trial(0, parameters), *b = trial(1, "{}");
    bool early;

    CHECK_EQ(checkpoints_begin(&c, a, true, NULL), 0);
    save(&c, a, 1, saved);
    a->metrics.intermediates = reported;
    a->state = TRIAL_PAUSED;
    checkpoints_hear_end(
        &c, &(struct attempt_end){.how = ATTEMPT_JUDGED, .trial = a});
    b->origin = (struct origin){.how = ORIGIN_PROMOTED, .from = 0};
    CHECK_EQ(checkpoints_begin(&c, b, true, NULL), 0);
    early = checkpoints_are_early(&c, b);
    checkpoints_delete(&c, 0);
    checkpoints_delete(&c, 1);
    trial_free(a);
    trial_free(b);
    checkpoints_close(&c);
    return early;
}

TEST(manager_checkpoints_that_were_saved_before_their_report)
{
    CHECK(is_early(2, 3, "{}"));
    CHECK(is_early(0, 1, "{}"));
    CHECK(!is_early(3, 3, "{}"));
    CHECK(!is_early(1, 3, "{}")); /* some epochs apart, on purpose */
    CHECK(is_early(2, 9, "{\"TRIAL_BUDGET\": 3}"));
    CHECK(!is_early(3, 4, "{\"TRIAL_BUDGET\": 3}"));
}

/* The same of the next attempt, but for what the trial itself was given. */
TEST(manager_checkpoints_that_were_saved_before_their_report_by_an_attempt)
{
    struct checkpoints c = make(&last);
    struct trial *a = trial(0, "{}"), *again = trial(0, "{}");
    struct trial *heir = trial(1, "{}");

    CHECK_EQ(checkpoints_begin(&c, a, true, NULL), 0);
    save(&c, a, 1, 2);
    a->metrics.intermediates = 3;
    checkpoints_hear_end(
        &c, &(struct attempt_end){.how = ATTEMPT_REPLACED, .trial = a});
    again->attempt = 1;
    CHECK_EQ(checkpoints_begin(&c, again, true, NULL), 0);
    CHECK(checkpoints_are_early(&c, again));
    pause_it(&c, again);

    heir->origin = (struct origin){.how = ORIGIN_CLONED, .from = 0};
    CHECK_EQ(checkpoints_begin(&c, heir, true, NULL), 0);
    heir->metrics.intermediates = 1;
    checkpoints_hear_end(
        &c, &(struct attempt_end){.how = ATTEMPT_REPLACED, .trial = heir});
    heir->attempt = 1;
    CHECK_EQ(checkpoints_begin(&c, heir, true, NULL), 0);
    CHECK(!checkpoints_are_early(&c, heir));
    trial_free(a);
    trial_free(again);
    trial_free(heir);
    checkpoints_close(&c);
}

/* Saved behind the end of its budget, it is nobody else's. */
TEST(manager_checkpoints_beyond_a_budget_are_not_handed_on)
{
    struct checkpoints c = make(&last);
    struct trial *a = trial(0, "{\"TRIAL_BUDGET\": 3}"), *b = trial(1, "{}");

    CHECK_EQ(checkpoints_begin(&c, a, true, NULL), 0);
    save(&c, a, 1, 2);
    save(&c, a, 2, 3);
    CHECK(!is_there("00000/1"));
    save(&c, a, 3, 4);
    save(&c, a, 4, 5);
    CHECK(is_there("00000/2") && !is_there("00000/3") && is_there("00000/4"));
    a->attempt = 1; /* it itself would go on from the newest */
    CHECK_EQ(checkpoints_begin(&c, a, true, NULL), 0);
    CHECK_EQ(a->restore, 4);
    CHECK_EQ(a->step, 5);
    pause_it(&c, a);

    b->origin = (struct origin){.how = ORIGIN_PROMOTED, .from = 0};
    CHECK_EQ(checkpoints_begin(&c, b, true, NULL), 0);
    CHECK_EQ(b->step, 3);
    CHECK(inode("00000/2/model") == inode("00001/1/model"));
    trial_free(a);
    trial_free(b);
    checkpoints_close(&c);
}

TEST(manager_checkpoints_of_a_trial_that_saved_none)
{
    struct checkpoints c = make(&last);
    struct trial *a = trial(0, "{}"), *b = trial(1, "{}");

    CHECK_EQ(checkpoints_begin(&c, a, true, NULL), 0);
    pause_it(&c, a);
    b->origin = (struct origin){.how = ORIGIN_PROMOTED, .from = 0};
    CHECK_EQ(checkpoints_begin(&c, b, true, NULL), 0);
    CHECK_EQ(b->restore, 0);
    CHECK_EQ(b->step, 0);
    trial_free(a);
    trial_free(b);
    checkpoints_close(&c);
}

/* However large, and whatever the policy. */
TEST(manager_checkpoints_of_paused_trials_stay_until_released)
{
    struct checkpoint_policy small = none;
    struct checkpoints c;
    struct trial *a = trial(0, "{}");

    small.quota = 1;
    c = make(&small);
    CHECK_EQ(checkpoints_begin(&c, a, true, NULL), 0);
    save(&c, a, 1, 1);
    CHECK(c.crowded);
    pause_it(&c, a);
    CHECK(is_there("00000/1"));
    checkpoints_pin(&c, 0); /* somebody is to go on from there */
    checkpoints_release(&c, 0, true);
    CHECK(is_there("00000/1"));
    c.deferred = true;
    checkpoints_unpin(&c, 0, false);
    CHECK(is_there("00000/1"));
    checkpoints_settle(&c);
    CHECK(!is_there("00000"));
    CHECK_EQ(c.n, 0);
    CHECK_EQ(c.bytes, 0);
    trial_free(a);
    checkpoints_close(&c);
}

TEST(manager_checkpoints_are_released_when_their_trial_has_ended)
{
    struct checkpoints c = make(&last);
    struct trial *a = trial(0, "{}");

    CHECK_EQ(checkpoints_begin(&c, a, true, NULL), 0);
    save(&c, a, 1, 1);
    checkpoints_release(&c, 0, false); /* another attempt may need it */
    CHECK(is_there("00000/1"));
    pause_it(&c, a);
    CHECK(!is_there("00000"));
    trial_free(a);
    checkpoints_close(&c);
}

TEST(manager_checkpoints_that_are_all_kept)
{
    struct checkpoints c = make(&all);
    struct trial *a = trial(0, "{}");

    CHECK_EQ(checkpoints_begin(&c, a, true, NULL), 0);
    save(&c, a, 1, 1);
    pause_it(&c, a);
    checkpoints_release(&c, 0, true);
    CHECK(is_there("00000/1"));
    trial_free(a);
    checkpoints_close(&c);
}

TEST(manager_checkpoints_at_the_end_go_by_the_policy)
{
    const struct checkpoint_policy *policies[] = {&none, &last};

    for (size_t i = 0; i < 2; i++) {
        struct checkpoints c = make(policies[i]);
        struct trial *a = trial(i, "{}");
        char path[32];

        CHECK_EQ(checkpoints_begin(&c, a, true, NULL), 0);
        save(&c, a, 1, 1);
        pause_it(&c, a);
        checkpoints_over(&c);
        snprintf(path, sizeof path, "%s/1", a->id);
        CHECK_EQ(is_there(path), i == 1);
        trial_free(a);
        checkpoints_close(&c);
    }
}

/* Its manager had died before it could write down how far it was. */
TEST(manager_checkpoints_whose_steps_stand_in_the_reports)
{
    static const char reports[] = "intermediate 1\nintermediate 2\n"
                                  "checkpoint 7\nintermediate 3\n";
    struct checkpoints c = make(&last);
    struct trial *a = trial(0, "{}");
    char path[64];

    CHECK_EQ(file_make_folder("trials/00000", NULL), 0);
    CHECK_EQ(file_write("trials/00000/" TRIAL_METRICS, reports,
                        sizeof reports - 1, NULL),
             0);
    CHECK_EQ(file_write("trials/00000/" TRIAL_ORIGIN, "10 1 - -\n", 9, NULL),
             0);
    CHECK_EQ(file_make_folder(TRIAL_CHECKPOINTS "/00000/7/x", NULL), 0);
    a->attempt = 1;
    CHECK_EQ(checkpoints_begin(&c, a, true, NULL), 0);
    CHECK_EQ(a->restore, 7);
    CHECK_EQ(a->step, 12);
    snprintf(path, sizeof path, TRIAL_CHECKPOINTS "/00000/steps.7");
    CHECK_EQ(access(path, F_OK), 0);
    trial_free(a);
    checkpoints_close(&c);
}

/* Another manager hears of the clone behind the end of the trial that it goes
 * on from, which the policy does not keep for its own sake. */
TEST(manager_checkpoints_of_ended_trials_wait_for_who_comes_again)
{
    struct checkpoints c = make(&none);
    struct trial *a = trial(0, "{}"), *b = trial(1, "{}");

    CHECK_EQ(checkpoints_begin(&c, a, true, NULL), 0);
    CHECK_EQ(checkpoints_begin(&c, b, true, NULL), 0);
    save(&c, a, 1, 1);
    save(&c, b, 1, 1);
    checkpoints_close(&c); /* it died */
    c = make(&none);
    c.deferred = true;
    checkpoints_ended_before(&c, 0, false);
    checkpoints_ended_before(&c, 1, false);
    CHECK(is_there("00000/1"));
    checkpoints_pin(&c, 0);
    checkpoints_settle(&c);
    CHECK(is_there("00000/1") && !is_there("00001"));
    checkpoints_unpin(&c, 0, false);
    CHECK(!is_there("00000"));
    CHECK_EQ(c.n, 0);
    trial_free(a);
    trial_free(b);
    checkpoints_close(&c);
}

/* In lock step each attempt begins where the first one did. */
TEST(manager_checkpoints_in_lock_step)
{
    struct checkpoints c = make(&last);
    struct trial *a = trial(0, "{}"), *b = trial(1, "{}");

    c.lockstep = true;
    CHECK_EQ(checkpoints_begin(&c, a, true, NULL), 0);
    save(&c, a, 1, 4);
    a->attempt = 1;
    CHECK_EQ(checkpoints_begin(&c, a, true, NULL), 0);
    CHECK_EQ(a->restore, 0);
    pause_it(&c, a);
    b->origin = (struct origin){.how = ORIGIN_PROMOTED, .from = 0};
    CHECK_EQ(checkpoints_begin(&c, b, true, NULL), 0);
    save(&c, b, 2, 1);
    b->attempt = 1;
    CHECK_EQ(checkpoints_begin(&c, b, true, NULL), 0);
    CHECK_EQ(b->restore, 1);
    CHECK_EQ(b->step, 4);
    trial_free(a);
    trial_free(b);
    checkpoints_close(&c);
}

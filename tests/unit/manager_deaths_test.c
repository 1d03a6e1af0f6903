/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "supervisor/deaths.h"

#include <signal.h>

static enum deaths_verdict
die(struct deaths *d, bool fault, uint64_t tuner, uint64_t assessor,
    int *worker)
{
    const uint64_t at[LOCKFILE_SLOTS] = {tuner, assessor};

    return deaths_add(d, fault, at, worker);
}

TEST(manager_deaths_tell_faults_from_misfortunes)
{
    CHECK(deaths_is_fault(SIGSEGV));
    CHECK(deaths_is_fault(SIGABRT));
    CHECK(!deaths_is_fault(SIGKILL));
    CHECK(!deaths_is_fault(SIGTERM));
    CHECK(!deaths_is_fault(0));
}

TEST(manager_deaths_skip_at_the_second_fault)
{
    struct deaths d = {0};
    int worker = -1;

    CHECK_EQ(die(&d, true, 17, 0, &worker), DEATHS_RESTART);
    CHECK_EQ(die(&d, false, 17, 0, &worker), DEATHS_RESTART);
    CHECK_EQ(die(&d, true, 17, 0, &worker), DEATHS_SKIP);
    CHECK_EQ(worker, LOCKFILE_DEFAULT);
    CHECK_EQ(die(&d, true, 0, 18, &worker), DEATHS_RESTART);
    CHECK_EQ(die(&d, true, 0, 19, &worker), DEATHS_RESTART);
    CHECK_EQ(die(&d, true, 0, 19, &worker), DEATHS_SKIP);
    CHECK_EQ(worker, LOCKFILE_ASSESSOR);
}

TEST(manager_deaths_of_two_at_work_take_one_more)
{
    struct deaths d = {0};
    int worker = -1;

    CHECK_EQ(die(&d, true, 4, 5, &worker), DEATHS_RESTART);
    CHECK_EQ(die(&d, true, 4, 5, &worker), DEATHS_RESTART);
    CHECK_EQ(die(&d, true, 4, 5, &worker), DEATHS_SKIP);
    CHECK_EQ(worker, LOCKFILE_DEFAULT);
    CHECK_EQ(die(&d, true, 0, 5, &worker), DEATHS_SKIP);
    CHECK_EQ(worker, LOCKFILE_ASSESSOR);
}

TEST(manager_deaths_never_skip_the_search_space)
{
    struct deaths d = {0};
    int worker = -1;

    CHECK_EQ(die(&d, true, 1, 0, &worker), DEATHS_RESTART);
    CHECK_EQ(die(&d, true, 1, 0, &worker), DEATHS_OVER);
    CHECK_EQ(worker, -1);
}

TEST(manager_deaths_by_the_same_status_are_over_soon)
{
    const uint64_t nobody[LOCKFILE_SLOTS] = {0}, busy[LOCKFILE_SLOTS] = {7, 0};
    struct deaths d = {0};
    int worker;

    CHECK(!deaths_repeat(&d, 1, nobody));
    CHECK_EQ(deaths_add(&d, true, nobody, &worker), DEATHS_RESTART);
    CHECK(!deaths_repeat(&d, 4, nobody)); /* another one */
    CHECK(!deaths_repeat(&d, 4, busy));   /* then who is at work is blamed */
    CHECK(deaths_repeat(&d, 4, nobody));
    deaths_progress(&d);
    CHECK(!deaths_repeat(&d, 4, nobody));
    CHECK(!deaths_repeat(&d, -1, nobody)); /* a signal */
}

TEST(manager_deaths_in_vain_come_to_an_end)
{
    struct deaths d = {0};
    int worker;

    for (int i = 0; i < DEATHS_IN_VAIN_MAX; i++)
        CHECK_EQ(die(&d, false, 3, 3, &worker), DEATHS_RESTART);
    deaths_progress(&d);
    for (int i = 0; i < DEATHS_IN_VAIN_MAX; i++)
        CHECK_EQ(die(&d, false, 3, 3, &worker), DEATHS_RESTART);
    CHECK_EQ(die(&d, false, 3, 3, &worker), DEATHS_OVER);
}

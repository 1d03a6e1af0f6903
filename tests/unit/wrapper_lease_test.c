/* SPDX-License-Identifier: MIT */
/* What the wrapper does when its manager dies, and when another one comes. */
#include "wrapper_run.h"

#include <signal.h>

TEST(wrapper_ends_the_trial_of_a_dead_manager)
{
    struct run run = start(LONG_MS, "100", "echo 1 1 > ready; exec cat ready");
    long a, b;

    wait_ready(&a, &b);
    close(run.lease);
    CHECK_EQ(wait_exit(&run), 0);
    CHECK_STR(first_line(), "signalled 15");
    CHECK_EQ(system("grep -q '^abandoned 1$' trial/exit"), 0);
}

TEST(wrapper_ends_a_trial_whose_manager_died_before_it_began)
{
    const char *wrapper = t_build(TRIAL_WRAPPER_PROGRAM);
    struct run run;

    make_folder();
    run.pid = fork();
    if (run.pid == 0) {
        execl(wrapper, wrapper, "--dir", "trial", "--cwd", ".", "--grace-ms",
              LONG_MS, "--adopt-ms", "0", "--", "cat", "ready", (char *)NULL);
        _exit(126);
    }
    CHECK_EQ(wait_exit(&run), 0);
    CHECK_STR(first_line(), "signalled 15");
}

/* Whether the wrapper watches for openers, which it does while nobody holds
 * the lease: the sign that it noticed.  Waits for the sign to be as wanted. */
static void
wait_watching(const struct run *run, bool want)
{
    char command[128];

    snprintf(command, sizeof(command), "ls -l /proc/%ld/fd | grep -q inotify",
             (long)run->pid);
    while ((system(command) == 0) != want)
        CHECK(!ended(run->pidfd, 0));
}

TEST(wrapper_is_adopted_by_whoever_opens_the_lease)
{
    struct run run = start(LONG_MS, "1500", "echo 1 1 > ready; exec cat ready");
    long a, b;
    int reader;

    wait_ready(&a, &b);
    for (int round = 0; round < 2; round++) {
        close(run.lease);
        wait_watching(&run, true);
        /* A reader is no manager. */
        reader = open("trial/" TRIAL_LEASE, O_RDONLY | O_NONBLOCK);
        CHECK(reader >= 0);
        close(reader);
        run.lease = open("trial/" TRIAL_LEASE, O_WRONLY | O_NONBLOCK);
        CHECK(run.lease >= 0);
        wait_watching(&run, false);
    }
    CHECK(!ended(run.pidfd, 2000)); /* longer than it would wait */
    CHECK_EQ(kill(run.pid, SIGTERM), 0);
    CHECK_EQ(wait_exit(&run), 0);
    CHECK_STR(first_line(), "signalled 15");
    CHECK(system("grep -q 'abandoned\\|alone' trial/exit") != 0);
}

/* The next manager cannot know for whom the signal was meant. */
TEST(wrapper_tells_of_a_manager_that_dies_in_the_grace)
{
    struct run run = start(LONG_MS, LONG_MS,
                           "mkfifo go; "
                           "trap 'echo 2 2 > ready; read x < go; exit 0' TERM; "
                           "echo 1 1 > ready; while :; do sleep 0.01; done");
    long a, b;
    int go;

    wait_ready(&a, &b);
    CHECK_EQ(kill(run.pid, SIGTERM), 0);
    wait_ready(&a, &b);
    close(run.lease);
    wait_watching(&run, true);
    run.lease = open("trial/" TRIAL_LEASE, O_WRONLY | O_NONBLOCK);
    CHECK(run.lease >= 0);
    wait_watching(&run, false);
    go = open("go", O_WRONLY);
    CHECK(go >= 0);
    close(go);
    CHECK_EQ(wait_exit(&run), 0);
    CHECK_STR(first_line(), "exited 0");
    CHECK_EQ(system("grep -q '^told 15$' trial/exit"), 0);
    CHECK_EQ(system("grep -q '^alone 1$' trial/exit"), 0);
}

TEST(wrapper_does_not_spin_while_nobody_holds_the_lease)
{
    struct run run =
        start(LONG_MS, LONG_MS, "echo 1 1 > ready; exec cat ready");
    unsigned long user, system_;
    char path[64];
    long a, b;

    wait_ready(&a, &b);
    close(run.lease);
    wait_watching(&run, true);
    CHECK(!ended(run.pidfd, 500));
    snprintf(path, sizeof(path), "/proc/%ld/stat", (long)run.pid);
    CHECK_EQ(sscanf(slurp(path),
                    "%*d (tunepipe-wrap) %*c %*d %*d %*d %*d %*d %*u %*u %*u "
                    "%*u %*u %lu %lu",
                    &user, &system_),
             2);
    CHECK(user + system_ < 20); /* of the 50 ticks it could have burnt */
    CHECK_EQ(kill(run.pid, SIGHUP), 0);
    CHECK_EQ(wait_exit(&run), 0);
}

/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "config/experiment.h"
#include "core/err.h"
#include "core/file.h"
#include "manager/checkpoints.h"
#include "manager/trash.h"
#include "manager/trial.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
write_text(const char *path, size_t bytes)
{
    char *text = calloc(1, bytes);

    CHECK_EQ(file_write(path, text, bytes, NULL), 0);
    free(text);
}

/* A checkpoint of so many KiB. */
static void
save(unsigned trial, unsigned number, size_t kib)
{
    char path[200];

    snprintf(path, sizeof path, "e/checkpoints/%05u/%u", trial, number);
    CHECK_EQ(file_make_folder(path, NULL), 0);
    strcat(path, "/model");
    write_text(path, kib * 1024);
}

static bool
is_there(unsigned trial, unsigned number)
{
    char path[200];

    snprintf(path, sizeof path, "e/checkpoints/%05u/%u", trial, number);
    return access(path, F_OK) == 0;
}

static void
delete_all(struct trash *t)
{
    struct pollfd end;

    while (t->pidfd >= 0 || trash_wants(t)) {
        if (t->pidfd < 0)
            trash_begin(t);
        end = (struct pollfd){.fd = t->pidfd, .events = POLLIN};
        if (t->pidfd >= 0) {
            CHECK_EQ(poll(&end, 1, -1), 1);
            trash_reap(t);
        }
    }
}

TEST(manager_trash_is_deleted_by_a_process)
{
    struct trash t;

    CHECK_EQ(file_make_folder("c/.gone.1/old", NULL), 0);
    CHECK_EQ(file_make_folder("c/.gone.x", NULL), 0); /* nobody's */
    CHECK_EQ(file_make_folder("c/00000/1/deep/er", NULL), 0);
    CHECK_EQ(file_make_folder("c/00000/empty", NULL), 0);
    write_text("c/00000/1/deep/er/file", 10);
    CHECK_EQ(trash_open(&t, "c", NULL), 0);
    CHECK(trash_wants(&t));
    trash_begin(&t);
    CHECK(!trash_wants(&t));
    trash_put(&t, "c/00000/1");
    CHECK(access("c/00000/1", F_OK) != 0);
    CHECK(!trash_wants(&t) || t.pidfd < 0); /* one process at a time */
    trash_put(&t, "c/00000/empty");
    CHECK_EQ(rmdir("c/00000"), 0);
    delete_all(&t);
    CHECK(access("c/.gone.1", F_OK) != 0 && access("c/.gone.2", F_OK) != 0 &&
          access("c/.gone.3", F_OK) != 0);
    CHECK(access("c/.gone.x", F_OK) == 0);
    trash_close(&t);
}

TEST(manager_trash_is_deleted_in_the_end)
{
    struct trash t;

    CHECK_EQ(file_make_folder("c/00000/1/deep", NULL), 0);
    CHECK_EQ(trash_open(&t, "c", NULL), 0);
    trash_put(&t, "c/00000/1");
    trash_close(&t); /* before anybody has begun */
    CHECK(access("c/00000/1", F_OK) != 0 && access("c/.gone.1", F_OK) != 0);
    trash_put(&t, "c/00000"); /* a closed one deletes where it stands */
    CHECK(access("c/00000", F_OK) != 0);
}

/* Of 300 trials those that have ended lose the older ones, the worst first;
 * others keep their newest. */
TEST(manager_checkpoints_over_quota)
{
    struct checkpoint_policy policy = {.keep = CHECKPOINTS_ALL, .quota = 1};
    struct trial t = {.read = {.given = true}};
    struct checkpoints c;
    unsigned n = 0;

    for (unsigned trial = 0; trial < 100; trial++)
        for (unsigned number = 1; number <= 3; number++)
            save(trial, number, 4);
    CHECK_EQ(checkpoints_open(&c, "e", &policy, false, NULL), 0);
    CHECK_EQ(c.n, 300);
    for (t.number = 0; t.number < 100; t.number++) {
        t.read.value = (double)t.number;
        checkpoints_saved(&c, &t, 3, 1);
    }
    /* All live: of each the newest has to stay, and nothing else may. */
    CHECK(c.crowded && c.n == 100);
    for (unsigned trial = 0; trial < 100; trial++)
        CHECK(!is_there(trial, 1) && !is_there(trial, 2) && is_there(trial, 3));
    policy.quota = c.bytes / 4 * 3;
    /* Half of them end: those with the least values go. */
    for (t.number = 0; t.number < 100; t.number += 2) {
        t.state = TRIAL_SUCCEEDED;
        checkpoints_ended(&c, &t);
    }
    for (unsigned trial = 1; trial < 100; trial += 2)
        CHECK(is_there(trial, 3));
    for (unsigned trial = 0; trial < 100; trial += 2)
        n += is_there(trial, 3);
    CHECK_EQ(n + 50, c.n);
    CHECK(!c.crowded && n > 0 && n < 50);
    CHECK(is_there(98, 3) && !is_there(0, 3));
    delete_all(&c.trash);
    checkpoints_close(&c);
}

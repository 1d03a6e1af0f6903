/* SPDX-License-Identifier: MIT */
#include "manager/oom.h"

#include "config/wishes.h"
#include "core/file.h"
#include "manager/claim.h"
#include "trial/outcome.h"

#include "t.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char why[512];

static enum oom
judge(const struct outcome *o, const struct claim *c, const char *words)
{
    static const struct wishes none = WISHES_DEFAULT;

    why[0] = '\0';
    CHECK(file_write("stderr", words, strlen(words), NULL) == 0);
    return oom_judge(o, c, &none, "stderr", why, sizeof why);
}

TEST(oom_judges_by_the_kernels_counters)
{
    struct outcome o = {.kind = OUTCOME_EXITED, .number = 3, .oom_kills = 1};
    struct claim c = {.limit = 1 << 20, .kills_before = UINT64_MAX};

    CHECK_EQ(judge(&o, &c, ""), OOM_MEMORY);
    CHECK_STR(why, "out of memory: killed at its limit of 1.0 MiB");
    o.oom_kills = 0;
    CHECK_EQ(judge(&o, &c, ""), OOM_NOT);
    o = (struct outcome){.kind = OUTCOME_SIGNALLED, .number = 9};
    CHECK_EQ(judge(&o, &c, ""), OOM_NOT);
    o.maxrss_kb = 1000;
    CHECK_EQ(judge(&o, &c, ""), OOM_MEMORY);
    o.kind = OUTCOME_LOST;
    CHECK_EQ(judge(&o, &c, "MemoryError"), OOM_NOT);
}

TEST(oom_reads_last_words)
{
    struct outcome o = {.kind = OUTCOME_EXITED, .number = 1};
    struct claim c = {.kills_before = UINT64_MAX};
    char *long_text = malloc(100000);

    CHECK_EQ(judge(&o, &c, "a\nx: Cannot allocate memory\n"), OOM_MEMORY);
    CHECK_STR(why, "out of memory: x: Cannot allocate memory");
    CHECK_EQ(judge(&o, &c, "torch.cuda.OutOfMemoryError: CUDA out of memory."),
             OOM_DEVICE);
    CHECK_EQ(judge(&o, &c, ""), OOM_NOT);
    CHECK_EQ(judge(&o, &c, "no\n"), OOM_NOT);
    /* What was said long before is not what it ended of. */
    CHECK(long_text != NULL);
    memset(long_text, 'a', 99999);
    memcpy(long_text, "MemoryError", 11);
    long_text[99999] = '\0';
    CHECK_EQ(judge(&o, &c, long_text), OOM_NOT);
    memcpy(long_text + 90000, "MemoryError", 11);
    CHECK_EQ(judge(&o, &c, long_text), OOM_MEMORY);
    CHECK(strlen(why) < 200 && strstr(why, "MemoryError") != NULL);
    free(long_text);
}

TEST(oom_records_what_it_judged)
{
    uint64_t bytes = 1;
    bool prepares = true;

    CHECK(mkdir("trial", 0700) == 0);
    CHECK_EQ(oom_recorded("trial", &prepares, &bytes), OOM_NOT);
    oom_record("trial", OOM_DEVICE, false, 77);
    CHECK_EQ(oom_recorded("trial", &prepares, &bytes), OOM_DEVICE);
    CHECK(!prepares);
    CHECK_EQ(bytes, 77);
    oom_record("trial", OOM_MEMORY, true, 78);
    CHECK_EQ(oom_recorded("trial", &prepares, &bytes), OOM_MEMORY);
    CHECK(prepares);
    CHECK_EQ(bytes, 78);
}

TEST(claim_is_read_as_it_was_written)
{
    struct claim c = {.managed = true,
                      .alone = true,
                      .devices = (uint64_t)1 << 63 | 5,
                      .memory = 1 << 30,
                      .device_memory = 7,
                      .limit = 1 << 30,
                      .cgroup = "/sys/fs/cgroup/a b",
                      .kills_before = 3};
    struct claim got;

    CHECK(!claim_read(&got, "."));
    CHECK(claim_write(&c, ".", NULL) == 0);
    CHECK(claim_read(&got, "."));
    CHECK(got.managed && got.alone && !got.held);
    CHECK_EQ(got.devices, c.devices);
    CHECK_EQ(got.memory, c.memory);
    CHECK_EQ(got.device_memory, 7);
    CHECK_EQ(got.limit, c.limit);
    CHECK_EQ(got.kills_before, 3);
    CHECK_STR(got.cgroup, c.cgroup);
    c = (struct claim){.managed = true};
    CHECK(claim_write(&c, ".", NULL) == 0);
    CHECK(claim_read(&got, "."));
    CHECK(got.managed && got.devices == 0 && got.cgroup[0] == '\0');
}

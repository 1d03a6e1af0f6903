/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "core/err.h"
#include "core/file.h"
#include "log/io.h"
#include "log/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void
fill(struct snapshot *s)
{
    snapshot_init(s);
    s->segment = 7;
    s->arrival = 1234567;
    s->head = snapshot_head("{\"seed\": 1}", 11);
    s->has[0] = s->has[2] = true;
    buf_add(&s->parts[0], "first\0part", 10);
    buf_add(&s->parts[2], "router", 6);
}

static void
write_one(void)
{
    struct snapshot s;
    struct err err;

    fill(&s);
    CHECK_EQ(snapshot_write(&s, ".", &logio_system, &err), 0);
    snapshot_fini(&s);
}

TEST(a_snapshot_comes_back_as_it_was_written)
{
    struct snapshot s, back;
    struct stat st;
    struct err err;

    fill(&s);
    CHECK_EQ(snapshot_write(&s, ".", &logio_system, &err), 0);
    CHECK_EQ(stat("command.7.snapshot", &st), 0);
    CHECK_EQ(st.st_mode & 0777, 0600);
    CHECK_EQ((uint64_t)st.st_size, snapshot_size(&s));
    CHECK(access("command.7.snapshot.new", F_OK) != 0);
    snapshot_init(&back);
    CHECK_EQ(snapshot_read(&back, ".", 7, &err), 0);
    CHECK_EQ(back.segment, 7);
    CHECK_EQ(back.arrival, 1234567);
    CHECK(back.head == s.head);
    CHECK(back.has[0] && !back.has[1] && back.has[2]);
    CHECK_EQ(back.parts[0].len, 10);
    CHECK(memcmp(back.parts[0].data, "first\0part", 10) == 0);
    CHECK_EQ(back.parts[1].len, 0);
    snapshot_fini(&back);
    snapshot_fini(&s);
}

static bool
is_read(char text[ERR_TEXT_MAX])
{
    struct snapshot s;
    struct err err;
    bool rc;

    snapshot_init(&s);
    rc = snapshot_read(&s, ".", 7, &err) == 0;
    if (!rc)
        snprintf(text, ERR_TEXT_MAX, "%s", err.text);
    snapshot_fini(&s);
    return rc;
}

static void
rewrite(const char *bytes, size_t len)
{
    struct err err;

    CHECK_EQ(file_write("command.7.snapshot", bytes, len, &err), 0);
}

TEST(a_snapshot_that_was_cut_or_changed_anywhere_is_none)
{
    char text[ERR_TEXT_MAX];
    struct buf whole;
    struct err err;

    write_one();
    buf_init(&whole, (size_t)1 << 20);
    CHECK_EQ(file_read("command.7.snapshot", 4096, &whole, &err), 0);
    for (size_t len = 0; len < whole.len; len++) {
        rewrite(whole.data, len);
        CHECK(!is_read(text));
    }
    for (size_t i = 0; i < whole.len; i++) {
        whole.data[i] ^= 1 << (i % 8);
        rewrite(whole.data, whole.len);
        CHECK(!is_read(text));
        whole.data[i] ^= 1 << (i % 8);
    }
    rewrite(whole.data, whole.len);
    CHECK(is_read(text));
    buf_fini(&whole);
}

TEST(a_snapshot_under_another_name_is_none)
{
    struct snapshot s;
    struct err err;

    write_one();
    CHECK_EQ(rename("command.7.snapshot", "command.8.snapshot"), 0);
    snapshot_init(&s);
    CHECK_EQ(snapshot_read(&s, ".", 8, &err), -1);
    CHECK_STR(err.text, "./command.8.snapshot: it is of another segment");
    CHECK_EQ(snapshot_read(&s, ".", 7, &err), -1);
    CHECK(strstr(err.text, "./command.7.snapshot") != NULL);
    snapshot_fini(&s);
}

/* ---- each call fails in turn ---- */

static int calls_left;

static bool
fails(void)
{
    errno = ENOSPC;
    return calls_left-- == 0;
}

static int
try_open(const char *path, int flags, mode_t mode)
{
    return fails() ? -1 : logio_system.open(path, flags, mode);
}

static ssize_t
try_pwrite(int fd, const void *data, size_t len, off_t at)
{
    return fails() ? -1 : logio_system.pwrite(fd, data, len, at);
}

static int
try_fdatasync(int fd)
{
    return fails() ? -1 : logio_system.fdatasync(fd);
}

static int
try_rename(const char *from, const char *to)
{
    return fails() ? -1 : logio_system.rename(from, to);
}

TEST(a_snapshot_that_cannot_be_written_leaves_nothing_behind)
{
    struct logio io = logio_system;
    struct snapshot s;
    struct err err;
    int failures = 0;

    io.open = try_open;
    io.pwrite = try_pwrite;
    io.fdatasync = try_fdatasync;
    io.rename = try_rename;
    fill(&s);
    for (int n = 0; n < 100; n++) {
        calls_left = n;
        if (snapshot_write(&s, ".", &io, &err) == 0)
            break;
        failures++;
        CHECK(strstr(err.text, "command.7.snapshot: cannot write: No space") !=
              NULL);
        CHECK(access("command.7.snapshot.new", F_OK) != 0);
    }
    CHECK(failures > 5);
    CHECK_EQ(access("command.7.snapshot", F_OK), 0);
    snapshot_fini(&s);
}

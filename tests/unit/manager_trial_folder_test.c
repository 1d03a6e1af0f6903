/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "manager/trial_folder.h"
#include "trial/outcome.h"

#include <string.h>

static void
put_text(struct buf *out, const char *text)
{
    buf_add(out, text, strlen(text) + 1);
}

/* As the wrapper writes it. */
static void
put_command(struct buf *out, const char *folder, const char *const argv[],
            char *const env[])
{
    put_text(out, folder);
    put_text(out, "4");
    for (; *argv != NULL; argv++)
        put_text(out, *argv);
    for (; *env != NULL; env++)
        put_text(out, *env);
}

TEST(manager_recipe_comes_back_as_it_was)
{
    static const char *const argv[] = {"/bin/sh", "-c", "a 'b'\nc", "", NULL};
    static char first[] = "A=1", second[] = "B=\xff=\n";
    char *env[] = {first, second, NULL};
    struct trial_command r;
    struct err err;
    struct buf b;

    buf_init(&b, 4096);
    put_command(&b, "/some where", argv, env);
    CHECK_EQ(trial_command_read(&r, b.data, b.len, &err), 0);
    CHECK_STR(r.folder, "/some where");
    for (size_t i = 0; argv[i] != NULL; i++)
        CHECK_STR(r.argv[i], argv[i]);
    CHECK(r.argv[4] == NULL);
    CHECK_STR(r.env[0], "A=1");
    CHECK_STR(r.env[1], second);
    CHECK(r.env[2] == NULL);
    trial_command_fini(&r);
    buf_fini(&b);
}

TEST(manager_recipe_refuses_what_is_none)
{
    static const struct {
        const char *bytes;
        size_t len;
    } bad[] = {{"", 0},          {"/a\0001\0sh", 7}, {"/a\0001\0", 5},
               {"/a\0x\0sh", 8}, {"/a\0000\0sh", 8}, {"/a\0002\0sh", 8}};
    struct trial_command r;
    struct err err;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_EQ(trial_command_read(&r, bad[i].bytes, bad[i].len, &err), -1);
        CHECK(r.bytes == NULL && r.argv == NULL);
    }
}

static struct outcome
read_outcome(const char *exit, size_t len)
{
    struct outcome o;
    struct err err;

    CHECK_EQ(file_write("exit", exit, len, &err), 0);
    CHECK_EQ(outcome_read(".", &o, &err), 0);
    return o;
}

/* Whatever of the two files the power has left: what is told of as whole is. */
TEST(outcome_tells_what_the_power_has_torn)
{
    static const char whole[] = "exited 0\nstarted_ns 1\nended_ns 2\n"
                                "reported 6\nprinted 0\nwrapper 5 7\n\0/\0"
                                "1\0x\0";
    struct outcome o = read_outcome(whole, sizeof whole - 1);
    struct err err;

    CHECK_EQ(o.kind, OUTCOME_EXITED);
    CHECK(outcome_is_torn(".", &o)); /* it had reported something */
    CHECK_EQ(file_write("metrics", "final", 5, &err), 0);
    CHECK(outcome_is_torn(".", &o));
    CHECK_EQ(file_write("metrics", "final ", 6, &err), 0);
    CHECK(!outcome_is_torn(".", &o));
    for (size_t len = 9; len < strlen(whole) - strlen("5 7\n"); len++) {
        o = read_outcome(whole, len);
        CHECK(outcome_is_torn(".", &o));
    }
    /* Those of earlier versions had another file, and less in this one. */
    CHECK_EQ(file_write("command", "/\0001\0x\0", 6, &err), 0);
    o = read_outcome(whole, strlen("exited 0\nstarted_ns 1\n"));
    CHECK(!outcome_is_torn(".", &o));
}

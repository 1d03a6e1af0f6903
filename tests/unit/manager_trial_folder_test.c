/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "core/buf.h"
#include "core/err.h"
#include "manager/trial_folder.h"

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

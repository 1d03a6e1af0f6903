/* SPDX-License-Identifier: MIT */
/* Files that go over a wire: agent/ferry.h. */
#include "agent/ferry.h"

#include "agent/wire.h"
#include "core/err.h"
#include "core/file.h"
#include "t.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define TOKEN "trials/00003.1"

/* Two folders of the experiment, ./a and ./b, and a wire from one to the other.
 */
struct way {
    struct ferry ferry;
    struct ferry_taken taken;
    struct wire near, far;
};

static void
way_open(struct way *w)
{
    int ends[2];

    *w = (struct way){.ferry = {.fd = -1}};
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    wire_open(&w->near, ends[0], ends[0], false);
    wire_open(&w->far, ends[1], ends[1], false);
    CHECK(file_make_folder("a/trials/00003.1/out/deep", NULL) == 0);
    CHECK(file_make_folder("a/checkpoints/00003", NULL) == 0);
    CHECK(file_make_folder("b", NULL) == 0);
}

static void
way_close(struct way *w)
{
    ferry_clear(&w->ferry);
    wire_close(&w->near);
    wire_close(&w->far);
}

/* Takes in what has come; how many frames were something else. */
static int
take_all(struct way *w, struct err *err)
{
    struct said said;
    int others = 0;

    while (wire_next(&w->far, &said, NULL) > 0) {
        if (strcmp(said.code, AGENT_FILE) == 0 ||
            strcmp(said.code, AGENT_RENAMED) == 0)
            ferry_take(&w->taken, said.code, &said, "b", said_text(&said), err);
        else
            others++;
    }
    return others;
}

static int
carry(struct way *w, struct err *err)
{
    int others = 0;

    do {
        ferry_go_on(&w->ferry, &w->near);
        CHECK(wire_flush(&w->near, NULL) == 0);
        wire_read(&w->far, NULL);
        others += take_all(w, err);
    } while (!ferry_is_empty(&w->ferry) || wire_is_full(&w->near));
    while (wire_read(&w->far, NULL) > 0)
        others += take_all(w, err);
    return others;
}

static void
write_text(const char *path, const char *text)
{
    CHECK(file_write(path, text, strlen(text), NULL) == 0);
}

static void
check_text(const char *path, const char *text)
{
    struct buf b;

    buf_init(&b, 4096);
    CHECK(file_read(path, 4096, &b, NULL) == 0);
    CHECK_STR(buf_text(&b), text);
    buf_fini(&b);
}

TEST(ferry_carries_a_folder_as_it_is)
{
    static const char *const skip[] = {"left", NULL};
    const off_t size = (off_t)3 << 20;
    struct err err = {0};
    struct stat st;
    struct way w;
    char *bytes = calloc(1, (size_t)size), to[32] = "";
    int fd;

    way_open(&w);
    for (off_t i = 0; i < size; i++)
        bytes[i] = (char)(i * 7 + i / 251);
    CHECK(file_write("a/trials/00003.1/out/deep/model", bytes, (size_t)size,
                     NULL) == 0);
    write_text("a/trials/00003.1/a \n name", "");
    write_text("a/trials/00003.1/left", "here");
    write_text("a/trials/00003.1/run.sh", "echo");
    CHECK(chmod("a/trials/00003.1/run.sh", 0755) == 0);
    CHECK(symlink("../../etc", "a/trials/00003.1/out/link") == 0);
    CHECK(mkfifo("a/trials/00003.1/answers", 0600) == 0);
    ferry_tree(&w.ferry, "a", TOKEN, TOKEN, NULL, skip);
    ferry_say(&w.ferry, AGENT_GROWN, &(struct buf){.max = 10});
    CHECK_EQ(carry(&w, &err), 1);
    CHECK_EQ(err.code, ERR_NONE);
    CHECK(!file_has("b/" TOKEN, "left"));
    CHECK(lstat("b/" TOKEN "/a \n name", &st) == 0 && st.st_size == 0);
    CHECK(lstat("b/" TOKEN "/answers", &st) == 0 && S_ISFIFO(st.st_mode));
    CHECK(lstat("b/" TOKEN "/run.sh", &st) == 0);
    CHECK_EQ(st.st_mode & 0777, 0700);
    CHECK_EQ(readlink("b/" TOKEN "/out/link", to, sizeof to - 1), 9);
    CHECK_STR(to, "../../etc");
    fd = open("b/" TOKEN "/out/deep/model", O_RDONLY);
    CHECK(fd >= 0 && fstat(fd, &st) == 0);
    CHECK_EQ(st.st_size, size);
    for (off_t at = 0; at < size; at += 4096) {
        char part[4096];

        CHECK_EQ(pread(fd, part, sizeof part, at), (ssize_t)sizeof part);
        CHECK(memcmp(part, bytes + at, sizeof part) == 0);
    }
    close(fd);
    free(bytes);
    way_close(&w);
}

TEST(ferry_sends_what_is_new_and_all_of_it_again)
{
    struct err err = {0};
    struct way w;

    way_open(&w);
    write_text("a/" TOKEN "/metrics", "one\n");
    ferry_file(&w.ferry, "a", TOKEN, TOKEN "/metrics", NULL, 0, -1);
    carry(&w, &err);
    write_text("a/" TOKEN "/metrics", "xxx\ntwo\n");
    ferry_file(&w.ferry, "a", TOKEN, TOKEN "/metrics", NULL, 4, -1);
    carry(&w, &err);
    check_text("b/" TOKEN "/metrics", "one\ntwo\n");
    write_text("a/" TOKEN "/metrics", "less\n");
    ferry_file(&w.ferry, "a", TOKEN, TOKEN "/metrics", NULL, 0, -1);
    ferry_file(&w.ferry, "a", TOKEN, TOKEN "/gone", NULL, 0, -1);
    carry(&w, &err);
    check_text("b/" TOKEN "/metrics", "less\n");
    CHECK(!file_has("b/" TOKEN, "gone"));
    CHECK_EQ(err.code, ERR_NONE);
    way_close(&w);
}

/* A checkpoint appears whole; one that is there already stays as it is. */
TEST(ferry_renames_what_is_complete)
{
    struct err err = {0};
    struct way w;

    way_open(&w);
    CHECK(file_make_folder("a/checkpoints/00003/1", NULL) == 0);
    write_text("a/checkpoints/00003/1/at", "first");
    for (int i = 0; i < 2; i++) {
        ferry_tree(&w.ferry, "a", TOKEN, "checkpoints/00003/1",
                   "checkpoints/00003/given.1", NULL);
        ferry_rename(&w.ferry, TOKEN, "checkpoints/00003/given.1",
                     "checkpoints/00003/1");
        carry(&w, &err);
        check_text("b/checkpoints/00003/1/at", "first");
        CHECK(!file_has("b/checkpoints/00003", "given.1"));
        write_text("a/checkpoints/00003/1/at", "second");
    }
    ferry_file(&w.ferry, "a", TOKEN, "checkpoints/00003/1/at", TOKEN "/exit", 0,
               -1);
    ferry_rename(&w.ferry, TOKEN, TOKEN "/exit", TOKEN "/ended");
    carry(&w, &err);
    check_text("b/" TOKEN "/ended", "second");
    CHECK_EQ(err.code, ERR_NONE);
    way_close(&w);
}

static void
say_file(struct way *w, const char *path, const char *kind, const char *rest)
{
    struct buf texts;

    buf_init(&texts, 4096);
    texts_add(&texts, TOKEN);
    texts_add(&texts, path);
    texts_add(&texts, kind);
    buf_add_text(&texts, rest);
    ferry_say(&w->ferry, AGENT_FILE, &texts);
    buf_fini(&texts);
}

/* Nobody at the other end has a file written elsewhere. */
TEST(ferry_takes_nothing_that_lies_elsewhere)
{
    static const char *const paths[] = {"command.log",
                                        "../x",
                                        "/etc/x",
                                        "trials/00003",
                                        "trials/00003.12/x",
                                        "trials/00003.1/../x",
                                        "trials/00003.1/./x",
                                        "trials/00003.1//x",
                                        "trials",
                                        "",
                                        "checkpoints/0000/x",
                                        "checkpoints/00003.1/x"};
    struct err err = {0};
    struct stat st;
    struct way w;

    way_open(&w);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        err = (struct err){0};
        say_file(&w, paths[i], "d", "");
        carry(&w, &err);
        CHECK_EQ(err.code, ERR_PROTOCOL);
    }
    CHECK(lstat("b/trials", &st) != 0 && lstat("x", &st) != 0);
    way_close(&w);
}

/* A trial may have left what it likes where its files go. */
TEST(ferry_follows_no_link)
{
    struct err err = {0};
    struct stat st;
    struct way w;

    way_open(&w);
    write_text("a/" TOKEN "/metrics", "text\n");
    CHECK(file_make_folder("b/" TOKEN, NULL) == 0);
    CHECK(file_make_folder("outside", NULL) == 0);
    CHECK(symlink("../../../outside/metrics", "b/" TOKEN "/metrics") == 0);
    ferry_file(&w.ferry, "a", TOKEN, TOKEN "/metrics", NULL, 0, -1);
    carry(&w, &err);
    check_text("b/" TOKEN "/metrics", "text\n");
    CHECK_EQ(err.code, ERR_NONE);
    CHECK(symlink("../../../outside", "b/" TOKEN "/out") == 0);
    write_text("a/" TOKEN "/out/x", "text\n");
    ferry_file(&w.ferry, "a", TOKEN, TOKEN "/out/x", NULL, 0, -1);
    carry(&w, &err);
    CHECK_EQ(err.code, ERR_SYSTEM);
    CHECK(lstat("outside/x", &st) != 0 && lstat("outside/metrics", &st) != 0);
    way_close(&w);
}

TEST(ferry_takes_no_frame_that_is_none)
{
    static const struct {
        const char *kind, *rest;
    } frames[] = {{"", ""}, {"z", ""}, {"f600", ""}, {"l", ""}};
    struct err err;
    struct way w;

    way_open(&w);
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        err = (struct err){0};
        say_file(&w, TOKEN "/x", frames[i].kind, frames[i].rest);
        carry(&w, &err);
        CHECK(err.code != ERR_NONE);
    }
    way_close(&w);
}

/* What was a folder becomes a file, a file a link, a link a folder. */
TEST(ferry_replaces_what_is_of_another_kind)
{
    struct err err = {0};
    struct stat st;
    struct way w;

    way_open(&w);
    CHECK(file_make_folder("b/" TOKEN "/file/in", NULL) == 0);
    CHECK(file_make_folder("b/" TOKEN, NULL) == 0);
    write_text("b/" TOKEN "/link", "");
    CHECK(symlink("/", "b/" TOKEN "/folder") == 0);
    write_text("a/" TOKEN "/file", "text");
    CHECK(symlink("to", "a/" TOKEN "/link") == 0);
    CHECK(file_make_folder("a/" TOKEN "/folder", NULL) == 0);
    write_text("a/" TOKEN "/folder/x", "");
    ferry_tree(&w.ferry, "a", TOKEN, TOKEN, NULL, NULL);
    carry(&w, &err);
    CHECK_EQ(err.code, ERR_NONE);
    check_text("b/" TOKEN "/file", "text");
    CHECK(lstat("b/" TOKEN "/link", &st) == 0 && S_ISLNK(st.st_mode));
    CHECK(lstat("b/" TOKEN "/folder", &st) == 0 && S_ISDIR(st.st_mode));
    CHECK(file_has("b/" TOKEN "/folder", "x"));
    way_close(&w);
}

/* A checkpoint of which a part cannot be read, or written, gets no name. */
TEST(ferry_names_no_checkpoint_that_is_torn)
{
    struct err err = {0};
    struct way w;

    way_open(&w);
    CHECK(file_make_folder("a/checkpoints/00003/1", NULL) == 0);
    write_text("a/checkpoints/00003/1/at", "first");
    for (int i = 0; i < 2; i++) {
        ferry_tree(&w.ferry, "a", TOKEN, "checkpoints/00003/1",
                   "checkpoints/00003/given.1", NULL);
        ferry_rename(&w.ferry, TOKEN, "checkpoints/00003/given.1",
                     "checkpoints/00003/1");
        if (i == 0) /* when its turn comes it is gone */
            CHECK(rename("a/checkpoints/00003/1/at", "at") == 0);
        else {
            CHECK(rename("at", "a/checkpoints/00003/1/at") == 0);
            say_file(&w, "checkpoints/00003/given.1/x", "f600", "");
            ferry_rename(&w.ferry, TOKEN, "checkpoints/00003/given.1",
                         "checkpoints/00003/2");
        }
        carry(&w, &err);
        CHECK(file_has("b/checkpoints/00003", "1") == (i == 1));
    }
    CHECK(!file_has("b/checkpoints/00003", "2"));
    way_close(&w);
}

/* No link of a trial's leads a file out of its folder. */
TEST(ferry_renames_along_no_link)
{
    struct err err = {0};
    struct way w;

    way_open(&w);
    CHECK(file_make_folder("b/" TOKEN, NULL) == 0);
    CHECK(file_make_folder("outside", NULL) == 0);
    CHECK(symlink("../../../outside", "b/" TOKEN "/x") == 0);
    write_text("b/" TOKEN "/a", "text");
    ferry_rename(&w.ferry, TOKEN, TOKEN "/a", TOKEN "/x/keys");
    carry(&w, &err);
    CHECK_EQ(err.code, ERR_SYSTEM);
    CHECK(!file_has("outside", "keys"));
    err = (struct err){0};
    say_file(&w, "checkpoints/00003", "l", "/somewhere");
    carry(&w, &err);
    CHECK_EQ(err.code, ERR_PROTOCOL);
    CHECK(!file_has("b/checkpoints", "00003"));
    way_close(&w);
}

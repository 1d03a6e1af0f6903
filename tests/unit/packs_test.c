/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/folder.h"
#include "pack/packs.h"
#include "pack/member.h"
#include "pack/packer.h"
#include "pack/tar.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

NOT_UNDER_TSAN;

#define PACK "trials/00000-00999.tar.gz"

static void
make_file(const char *path, const char *text)
{
    char *folder = file_folder(path);

    CHECK_EQ(file_make_folder(folder, NULL), 0);
    CHECK_EQ(file_write(path, text, strlen(text), NULL), 0);
    free(folder);
}

static bool
is_ours(const char *name, bool folder)
{
    return folder ? strcmp(name, "prepare") == 0
                  : strcmp(name, "stdout") == 0 || strcmp(name, "exit") == 0 ||
                        strcmp(name, "fifo") == 0 ||
                        strcmp(name, "prepare/exit") == 0;
}

static void
put_all(const struct pack_trial *trials, size_t n, struct err *left)
{
    struct err err = {0};
    struct packer *p = packer_open("trials", is_ours, &err);

    CHECK(p != NULL);
    if (packer_put(p, trials, n, left, &err) != 0)
        CHECK_STR(err.text, "");
    packer_close(p);
}

static void
put_one(uint64_t number, enum pack_fate ours, enum pack_fate output)
{
    struct pack_trial t = {number, 0, ours, output};

    put_all(&t, 1, NULL);
}

/* What a path gives, wherever it is. */
static void
check_text(const char *path, const char *want)
{
    struct err err = {0};
    struct buf b;

    buf_init(&b, 1 << 20);
    CHECK_EQ(packs_read(NULL, path, 1 << 19, &b, &err), 0);
    CHECK_STR(buf_text(&b), want);
    buf_fini(&b);
}

static bool
is_there(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

static size_t
size_of(const char *path)
{
    struct stat st;

    CHECK_EQ(stat(path, &st), 0);
    return (size_t)st.st_size;
}

static void
cut_to(const char *path, size_t size)
{
    CHECK_EQ(truncate(path, (off_t)size), 0);
}

static void
damage(const char *path, size_t at)
{
    int fd = open(path, O_RDWR);
    char c;

    CHECK(pread(fd, &c, 1, (off_t)at) == 1);
    c ^= 1;
    CHECK(pwrite(fd, &c, 1, (off_t)at) == 1);
    close(fd);
}

TEST(packs_hold_what_was_in_the_folders)
{
    struct pack_trial t = {12, 1, PACK_STORED, PACK_KEPT};

    make_file("trials/00012/stdout", "one\n");
    make_file("trials/00012/prepare/exit", "exited 0\n");
    make_file("trials/00012.1/stdout", "two\n");
    make_file("trials/00012.1/model", "the user's");
    put_all(&t, 1, NULL);
    CHECK(!is_there("trials/00012"));
    CHECK(!is_there("trials/00012.1/stdout"));
    check_text("trials/00012/stdout", "one\n");
    check_text("trials/00012/prepare/exit", "exited 0\n");
    check_text("trials/00012.1/stdout", "two\n");
    check_text("trials/00012.1/model", "the user's");
    CHECK(packs_has(NULL, "trials/00012"));
    CHECK(packs_has(NULL, "trials/00012/stdout"));
    CHECK(packs_is_packed(NULL, "trials/00012"));
    CHECK(!packs_is_packed(NULL, "trials/00012.1/model"));
    CHECK(!packs_has(NULL, "trials/00012/stderr"));
    CHECK(!packs_has(NULL, "trials/00013"));
    CHECK(!packs_has(NULL, "trials/12"));
}

TEST(packs_are_opened_as_files_are)
{
    char text[8] = "";
    int fd;

    make_file("trials/00001/stdout", "one\n");
    put_one(1, PACK_STORED, PACK_KEPT);
    fd = packs_open(NULL, "./trials/00001/stdout", NULL);
    CHECK(fd >= 0);
    CHECK_EQ(read(fd, text, sizeof text), 4);
    CHECK_STR(text, "one\n");
    close(fd);
    CHECK_EQ(packs_open(NULL, "trials/00001/none", NULL), -1);
    CHECK_EQ(errno, ENOENT);
    CHECK_EQ(packs_open(NULL, "trials/02001/none", NULL), -1);
    CHECK_EQ(errno, ENOENT);
}

TEST(packs_give_way_to_a_file_in_the_folder)
{
    make_file("trials/00001/stdout", "one\n");
    put_one(1, PACK_STORED, PACK_KEPT);
    make_file("trials/00001/stdout", "newer\n");
    check_text("trials/00001/stdout", "newer\n");
    put_one(1, PACK_STORED, PACK_KEPT);
    CHECK(!is_there("trials/00001"));
    check_text("trials/00001/stdout", "newer\n");
}

TEST(packs_remove_or_store_or_keep_output)
{
    make_file("trials/00001/stdout", "one\n");
    make_file("trials/00001/out/model", "1");
    make_file("trials/00002/stdout", "two\n");
    make_file("trials/00002/out/model", "2");
    make_file("trials/00003/stdout", "three\n");
    put_one(1, PACK_STORED, PACK_STORED);
    put_one(2, PACK_STORED, PACK_REMOVED);
    put_one(3, PACK_REMOVED, PACK_KEPT);
    CHECK(!is_there("trials/00001") && !is_there("trials/00002") &&
          !is_there("trials/00003"));
    check_text("trials/00001/out/model", "1");
    CHECK(!packs_has(NULL, "trials/00002/out"));
    CHECK(packs_has(NULL, "trials/00001/out"));
    CHECK(!packs_has(NULL, "trials/00003"));
}

/* Whatever a hostile trial has made of its folder. */
TEST(packs_follow_no_link_and_open_no_fifo)
{
    struct pack_trial t = {1, 0, PACK_STORED, PACK_STORED};
    struct err left = {0};

    make_file("secret", "not its own");
    CHECK_EQ(mkdir("outside", 0700), 0);
    make_file("outside/exit", "precious");
    make_file("trials/00001/kept", "1");
    CHECK_EQ(symlink("../../secret", "trials/00001/stdout"), 0);
    CHECK_EQ(symlink("../../outside", "trials/00001/prepare"), 0);
    CHECK_EQ(mkfifo("trials/00001/fifo", 0600), 0);
    CHECK_EQ(mkfifo("trials/00001/theirs", 0600), 0);
    CHECK_EQ(mkdir("trials/00001/exit", 0700), 0);
    make_file("trials/00001/exit/stdout", "a folder of our name");
    put_all(&t, 1, &left);
    CHECK_HAS(left.text, "theirs");
    CHECK(is_there("trials/00001/theirs"));
    CHECK(!is_there("trials/00001/fifo"));
    CHECK(!is_there("trials/00001/stdout"));
    check_text("outside/exit", "precious");
    check_text("secret", "not its own");
    check_text("trials/00001/exit/stdout", "a folder of our name");
    CHECK_EQ(packs_open(NULL, "trials/00001/stdout", NULL), -1);
    CHECK_EQ(unlink("trials/00001/theirs"), 0);
    CHECK_EQ(rmdir("trials/00001"), 0);
    CHECK_EQ(symlink("outside", "trials/00001"), 0);
    put_one(1, PACK_REMOVED, PACK_REMOVED);
    check_text("outside/exit", "precious");
}

TEST(packs_leave_what_they_cannot_hold)
{
    struct pack_trial t = {1, 0, PACK_STORED, PACK_STORED};
    struct err left = {0};
    char path[256];

    snprintf(path, sizeof path, "trials/00001/%0150d", 1);
    make_file(path, "long");
    make_file("trials/00001/stdout", "one\n");
    CHECK_EQ(symlink(path, "trials/00001/link"), 0);
    put_all(&t, 1, &left);
    CHECK_HAS(left.text, "longer than an archive's may be");
    CHECK(is_there(path) && is_there("trials/00001/link"));
    CHECK(!is_there("trials/00001/stdout"));
    check_text("trials/00001/stdout", "one\n");
}

TEST(packs_are_archives_for_tar)
{
    struct stat st;

    for (int i = 0; i < 5; i++) {
        char path[64], text[64];

        snprintf(path, sizeof path, "trials/%05d/stdout", i);
        snprintf(text, sizeof text, "%d\n", i);
        make_file(path, text);
        snprintf(path, sizeof path, "trials/%05d", i);
        CHECK_EQ(chmod(path, 0700), 0);
        put_one((uint64_t)i, PACK_STORED, PACK_KEPT);
    }
    CHECK_EQ(mkdir("to", 0755), 0);
    if (system("command -v tar gzip > tools") != 0)
        SKIP("no tar");
    CHECK_EQ(system("tar -xzf " PACK " -C to && gzip -t " PACK), 0);
    check_text("to/00000/stdout", "0\n");
    check_text("to/00004/stdout", "4\n");
    CHECK_EQ(stat("to/00003/stdout", &st), 0);
    CHECK_EQ(st.st_mode & 0777, 0600);
}

TEST(packs_of_each_thousand_are_one_file)
{
    struct pack_trial t[3] = {{999, 0, PACK_STORED, PACK_KEPT},
                              {1000, 0, PACK_STORED, PACK_KEPT},
                              {123456, 0, PACK_STORED, PACK_KEPT}};

    make_file("trials/00999/stdout", "a");
    make_file("trials/01000/stdout", "b");
    make_file("trials/123456/stdout", "c");
    put_all(t, 3, NULL);
    CHECK(is_there(PACK) && is_there("trials/01000-01999.tar.gz") &&
          is_there("trials/123000-123999.tar.gz"));
    check_text("trials/00999/stdout", "a");
    check_text("trials/01000/stdout", "b");
    check_text("trials/123456/stdout", "c");
}

TEST(packs_that_are_torn_are_cut_and_gone_on_with)
{
    size_t whole;

    make_file("trials/00001/stdout", "one\n");
    put_one(1, PACK_STORED, PACK_KEPT);
    whole = size_of(PACK);
    make_file("trials/00002/stdout", "two\n");
    put_one(2, PACK_STORED, PACK_KEPT);
    for (size_t size = size_of(PACK) - 1; size > whole; size--) {
        cut_to(PACK, size);
        check_text("trials/00001/stdout", "one\n");
        CHECK(!packs_has(NULL, "trials/00002"));
    }
    make_file("trials/00002/stdout", "again\n");
    put_one(2, PACK_STORED, PACK_KEPT);
    check_text("trials/00001/stdout", "one\n");
    check_text("trials/00002/stdout", "again\n");
    damage(PACK, size_of(PACK) - 6); /* as if its end was never written */
    make_file("trials/00003/stdout", "three\n");
    put_one(3, PACK_STORED, PACK_KEPT);
    CHECK(!packs_has(NULL, "trials/00002"));
    check_text("trials/00003/stdout", "three\n");
}

/* Puts away a trial with that file in the pack's place. */
static void
put_beside(uint64_t number, const char *file, size_t size, bool aside)
{
    struct pack_trial t = {number, 0, PACK_STORED, PACK_KEPT};
    struct packer *p = packer_open("trials", is_ours, NULL);
    struct err told;

    make_file("trials/00001/stdout", "one\n");
    CHECK_EQ(file_write(PACK, file, size, NULL), 0);
    CHECK_EQ(packer_put(p, &t, 1, NULL, NULL), 0);
    CHECK_EQ(packer_set_aside(p, &told), aside);
    if (aside)
        CHECK_HAS(told.text, "trials/00000-00999.tar.gz is no pack");
    CHECK(!packer_set_aside(p, &told));
    packer_close(p);
    check_text("trials/00001/stdout", "one\n");
}

TEST(packs_set_aside_what_is_none)
{
    static const char zeros[5000];

    make_file("trials/00001/stdout", "one\n");
    put_beside(1, "x", 1, true);
    check_text(PACK PACK_ASIDE "1", "x");
    put_beside(1, "no pack\n", 8, true);
    check_text(PACK PACK_ASIDE "1", "x");
    check_text(PACK PACK_ASIDE "2", "no pack\n");
    put_beside(1, zeros, sizeof zeros, false); /* as one that was torn is */
    put_beside(1, "", 0, false);
    CHECK(!is_there(PACK PACK_ASIDE "3"));
    damage(PACK, 0);
    make_file("trials/00002/stdout", "two\n");
    put_one(2, PACK_STORED, PACK_KEPT);
    CHECK(is_there(PACK PACK_ASIDE "3"));
    CHECK(!packs_has(NULL, "trials/00001"));
    check_text("trials/00002/stdout", "two\n");
}

TEST(packs_that_are_damaged_cost_that_member)
{
    char text[300] = "";
    struct err err = {0};
    size_t first, second;
    struct buf b;

    make_file("trials/00001/stdout", "one\n");
    put_one(1, PACK_STORED, PACK_KEPT);
    first = size_of(PACK);
    make_file("trials/00002/stdout", "two\n");
    put_one(2, PACK_STORED, PACK_KEPT);
    second = size_of(PACK);
    make_file("trials/00003/stdout", "three\n");
    put_one(3, PACK_STORED, PACK_KEPT);
    CHECK(!packs_damage("trials", text, sizeof text));

    damage(PACK, second - 7); /* in its checksum */
    buf_init(&b, 1 << 20);
    CHECK_EQ(packs_read(NULL, "trials/00002/stdout", 100, &b, &err), -1);
    snprintf(text, sizeof text, PACK ": the member at byte %zu is damaged",
             first);
    CHECK_HAS(err.text, text);
    CHECK_EQ(packs_open(NULL, "trials/00002/stdout", NULL), -1);
    CHECK_EQ(errno, EBADMSG);
    buf_fini(&b);
    check_text("trials/00003/stdout", "three\n");

    damage(PACK, first + 20); /* in its head */
    check_text("trials/00001/stdout", "one\n");
    check_text("trials/00003/stdout", "three\n");
    CHECK(!packs_has(NULL, "trials/00002"));
    CHECK(packs_damage("trials", text, sizeof text));
    CHECK_HAS(text, PACK ": damaged at byte");
}

static int
count(void *ctx, uint64_t number, uint64_t attempt)
{
    uint64_t *sum = ctx;

    *sum += 1000 * attempt + number;
    return 0;
}

TEST(packs_tell_of_all_their_attempts)
{
    struct pack_trial t[2] = {{1, 2, PACK_STORED, PACK_KEPT},
                              {2000, 0, PACK_STORED, PACK_KEPT}};
    uint64_t sum = 0;

    make_file("trials/00001/stdout", "a");
    make_file("trials/00001.2/stdout", "b");
    make_file("trials/02000/stdout", "c");
    put_all(t, 2, NULL);
    CHECK_EQ(packs_each("trials", count, &sum, NULL), 0);
    CHECK_EQ(sum, 1 + 2001 + 2000);
    CHECK_EQ(packs_each("none", count, &sum, NULL), 0);
}

TEST(packs_are_unpacked_again)
{
    struct pack_trial t = {1, 0, PACK_STORED, PACK_STORED};
    struct err err = {0};
    struct stat st;

    make_file("trials/00001/stdout", "one\n");
    make_file("trials/00001/out/a", "a");
    make_file("trials/00001/stdout.tmp", "of a name like a temporary's");
    make_file("trials/00001/.unpacking-0", "and this");
    CHECK_EQ(chmod("trials/00001/out/a", 0750), 0);
    CHECK_EQ(symlink("a", "trials/00001/out/link"), 0);
    put_all(&t, 1, NULL);
    CHECK_EQ(packs_unpack(NULL, "trials/00001", "trials/00001", false, &err),
             0);
    check_text("trials/00001/out/a", "a");
    CHECK(is_there("trials/00001/stdout"));
    CHECK_EQ(lstat("trials/00001/out/link", &st), 0);
    CHECK(S_ISLNK(st.st_mode));
    CHECK_EQ(stat("trials/00001/out/a", &st), 0);
    CHECK_EQ(st.st_mode & 0777, 0750);
    CHECK_EQ(packs_unpack(NULL, "trials/00001", "trials/00001", false, &err),
             -1);
    CHECK_HAS(err.text, "overwritten");
    make_file("trials/00001/stdout", "newer\n");
    CHECK_EQ(unlink("trials/00001/out/a"), 0);
    CHECK_EQ(packs_unpack(NULL, "trials/00001", "trials/00001", true, &err), 0);
    check_text("trials/00001/stdout", "newer\n");
    CHECK(is_there("trials/00001/out/a"));
    CHECK_EQ(packs_unpack(NULL, "trials/00001", "elsewhere", false, &err), 0);
    check_text("elsewhere/stdout", "one\n");
    check_text("elsewhere/stdout.tmp", "of a name like a temporary's");
    check_text("elsewhere/.unpacking-0", "and this");
    CHECK_EQ(packs_unpack(NULL, "trials/00007", "x", false, &err), -1);
    CHECK_HAS(err.text, "no pack has it");
    CHECK(!is_there("x"));
}

/* A file that is larger than what is unpacked into memory. */
TEST(packs_hold_large_files)
{
    size_t size = (size_t)20 << 20, sum = 0;
    char *text = malloc(size), piece[4096];
    ssize_t n;
    int fd;

    for (size_t i = 0; i < size; i++)
        text[i] = (char)(i * 2654435761u >> 13);
    CHECK_EQ(file_make_folder("trials/00001", NULL), 0);
    CHECK_EQ(file_write("trials/00001/stdout", text, size, NULL), 0);
    make_file("trials/00002/stdout", "two\n");
    put_all((struct pack_trial[]){{1, 0, PACK_STORED, PACK_KEPT},
                                  {2, 0, PACK_STORED, PACK_KEPT}},
            2, NULL);
    fd = packs_open(NULL, "trials/00001/stdout", NULL);
    CHECK(fd >= 0);
    while ((n = read(fd, piece, sizeof piece)) > 0) {
        CHECK(memcmp(piece, text + sum, (size_t)n) == 0);
        sum += (size_t)n;
    }
    CHECK_EQ(sum, size);
    close(fd);
    check_text("trials/00002/stdout", "two\n");
    free(text);
}

/* No room: nothing is lost, and it goes on. */
TEST(packs_wait_for_room)
{
    struct pack_trial t = {2, 0, PACK_STORED, PACK_STORED};
    struct packer *p;
    struct rlimit limit;
    struct err err = {0};
    char text[20000];
    size_t whole;

    make_file("trials/00001/stdout", "one\n");
    put_one(1, PACK_STORED, PACK_KEPT);
    p = packer_open("trials", is_ours, NULL);
    whole = size_of(PACK);
    make_file("trials/00002/stdout", "two\n");
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)(i * i * 2654435761u >> 15);
    CHECK_EQ(file_write("trials/00002/model", text, sizeof text, NULL), 0);
    signal(SIGXFSZ, SIG_IGN);
    CHECK_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
    CHECK_EQ(
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){whole + 5000, limit.rlim_max}),
        0);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(packer_put(p, &t, 1, NULL, &err), -1);
        CHECK_HAS(err.text, PACK ": cannot write");
        CHECK_EQ(size_of(PACK), whole);
        CHECK(is_there("trials/00002/stdout"));
        check_text("trials/00001/stdout", "one\n");
    }
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    CHECK_EQ(packer_put(p, &t, 1, NULL, &err), 0);
    CHECK(!is_there("trials/00002"));
    check_text("trials/00002/stdout", "two\n");
    packer_close(p);
}

/* What cannot be read is not taken for the end: nothing is cut off or set
 * aside for it. */
TEST(packs_that_cannot_be_read_are_not_taken_for_short)
{
    struct pack_index x = {0};
    struct err err = {0};
    int fd;

    make_file("trials/00001/stdout", "one\n");
    put_one(1, PACK_STORED, PACK_STORED);
    fd = open(PACK, O_WRONLY);
    CHECK_EQ(pack_index_grow(&x, fd, &err), -1);
    CHECK_EQ(err.code, ERR_SYSTEM);
    CHECK_HAS(err.text, "cannot read it: ");
    CHECK_EQ(x.end, 0);
    close(fd);
    pack_index_fini(&x);
}

/* Holes stay holes, as maxTrialOutput makes them, and in tar's hands, too. */
TEST(packs_keep_holes)
{
    const off_t far = (off_t)40 << 30;
    char text[8] = "";
    struct stat st;
    int fd;

    make_file("trials/00001/stdout", "begin");
    fd = open("trials/00001/stdout", O_WRONLY);
    if (ftruncate(fd, far) != 0)
        SKIP("no file may be so long here");
    CHECK_EQ(pwrite(fd, "end\n", 4, far), 4);
    close(fd);
    put_one(1, PACK_STORED, PACK_KEPT);
    CHECK(!is_there("trials/00001"));
    CHECK(size_of(PACK) < 2000);
    fd = packs_open(NULL, "trials/00001/stdout", NULL);
    CHECK(fd >= 0 && fstat(fd, &st) == 0);
    CHECK_EQ(st.st_size, far + 4);
    CHECK(st.st_blocks < 1000);
    CHECK_EQ(pread(fd, text, 5, 0), 5);
    CHECK_STR(text, "begin");
    CHECK_EQ(pread(fd, text, 5, far), 4);
    CHECK(memcmp(text, "end\n", 4) == 0);
    close(fd);
    CHECK_EQ(packs_unpack(NULL, "trials/00001", "to", false, NULL), 0);
    CHECK_EQ(stat("to/stdout", &st), 0);
    CHECK_EQ(st.st_size, far + 4);
    CHECK(st.st_blocks < 1000);
    if (system("command -v tar gzip > tools") != 0)
        SKIP("no tar");
    CHECK_EQ(mkdir("tar", 0700), 0);
    CHECK_EQ(system("tar -xzf " PACK " -C tar"), 0);
    CHECK_EQ(stat("tar/00001/stdout", &st), 0);
    CHECK_EQ(st.st_size, far + 4);
    CHECK(st.st_blocks < 1000);
}

/* One that ends in a hole, one that is nothing else, one of many. */
TEST(packs_keep_holes_wherever_they_are)
{
    static const struct {
        const char *path;
        off_t length;
        int n;
    } files[] = {{"trials/00001/a", 1 << 20, 1},
                 {"trials/00001/b", 1 << 20, 0},
                 {"trials/00001/c", 1 << 20, 9}};
    struct stat st;
    struct buf b;

    for (size_t i = 0; i < 3; i++) {
        int fd;

        make_file(files[i].path, "");
        fd = open(files[i].path, O_WRONLY);
        CHECK_EQ(ftruncate(fd, files[i].length), 0);
        for (int k = 0; k < files[i].n; k++)
            CHECK_EQ(pwrite(fd, "x", 1, k * 100000), 1);
        close(fd);
    }
    put_one(1, PACK_STORED, PACK_STORED);
    CHECK_EQ(packs_unpack(NULL, "trials/00001", "to", false, NULL), 0);
    buf_init(&b, 1 << 22);
    for (size_t i = 0; i < 3; i++) {
        buf_clear(&b);
        CHECK_EQ(packs_read(NULL, files[i].path, 1 << 21, &b, NULL), 0);
        CHECK_EQ(b.len, files[i].length);
        for (int k = 0; k < files[i].n; k++)
            CHECK(b.data[k * 100000] == 'x' && b.data[k * 100000 + 1] == '\0');
    }
    CHECK_EQ(packs_read(NULL, files[0].path, 1 << 19, &b, NULL), -1);
    buf_fini(&b);
    CHECK_EQ(stat("to/a", &st), 0);
    CHECK_EQ(st.st_size, files[0].length);
}

/* One handle, more packs and members than it remembers. */
TEST(packs_are_read_in_any_order_through_one_handle)
{
    struct packs *k = packs_new();
    char path[64], text[16];
    struct buf b;

    for (int i = 0; i < 60; i++) {
        snprintf(path, sizeof path, "trials/%05d/stdout", i * 150);
        snprintf(text, sizeof text, "%d\n", i);
        make_file(path, text);
        put_one((uint64_t)i * 150, PACK_STORED, PACK_KEPT);
    }
    buf_init(&b, 1 << 20);
    for (int i = 0; i < 180; i++) {
        int which = i * 37 % 60;

        snprintf(path, sizeof path, "trials/%05d/stdout", which * 150);
        snprintf(text, sizeof text, "%d\n", which);
        buf_clear(&b);
        CHECK_EQ(packs_read(k, path, 100, &b, NULL), 0);
        CHECK_STR(buf_text(&b), text);
    }
    buf_fini(&b);
    packs_free(k);
}

TEST(packs_name_attempts_in_one_way)
{
    uint64_t number, attempt;
    char name[PACK_NAME_MAX];

    CHECK(pack_id_read("00012.3", 7, &number, &attempt));
    CHECK_EQ(number, 12);
    CHECK_EQ(attempt, 3);
    CHECK(!pack_id_read("12", 2, &number, &attempt));
    CHECK(!pack_id_read("00012.", 6, &number, &attempt));
    CHECK(!pack_id_read("00012.0", 7, &number, &attempt));
    CHECK(!pack_id_read("", 0, &number, &attempt));
    pack_name(123456, name);
    CHECK_STR(name, "123000-123999.tar.gz");
    CHECK(pack_name_read(name, &number));
    CHECK_EQ(number, 123000);
    CHECK(!pack_name_read("00001-01000.tar.gz", &number));
    CHECK(!pack_name_read("00000-00999.tar", &number));
}

TEST(tar_heads_are_read_as_written)
{
    struct tar_entry e = {.type = TAR_FOLDER, .mode = 0755, .mtime = 5}, r;
    unsigned char block[TAR_BLOCK];

    snprintf(e.name, sizeof e.name, "%0100d/%099d", 1, 2);
    CHECK_EQ(tar_write(&e, block), 0);
    CHECK_EQ(tar_read(block, &r), 0);
    CHECK_STR(r.name, e.name);
    CHECK_EQ(r.type, TAR_FOLDER);
    CHECK_EQ(r.mtime, 5);
    block[0] ^= 1;
    CHECK_EQ(tar_read(block, &r), -1);
    snprintf(e.name, sizeof e.name, "%0100d/%0100d", 1, 2);
    CHECK_EQ(tar_write(&e, block), -1); /* with its '/' it is 101 bytes long */
    snprintf(e.name, sizeof e.name, "%0150d", 1);
    CHECK_EQ(tar_write(&e, block), -1);
}

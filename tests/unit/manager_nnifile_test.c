/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "manager/nnifile.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct buf seen;

/* Each record as "[OFFSET PAYLOAD]". */
static void
take(void *ctx, const char *json, size_t len, int64_t at)
{
    CHECK(ctx == &seen);
    buf_printf(&seen, "[%lld %.*s]", (long long)at, (int)len, json);
}

static int
add(int fd, const char *text)
{
    return file_write_all(fd, text, strlen(text), NULL);
}

static int
begin(struct nnifile *f)
{
    int fd = open("f", O_CREAT | O_WRONLY | O_APPEND, 0600);

    buf_init(&seen, 1 << 24);
    CHECK_EQ(nnifile_open(f, "f", NULL), 0);
    return fd;
}

static void
end(struct nnifile *f, int fd)
{
    nnifile_close(f);
    close(fd);
    buf_fini(&seen);
}

TEST(manager_nnifile_waits_for_the_whole_record)
{
    static const char text[] =
        "ME000003{}\nME000000ME000012two\nlines \303\251";
    struct nnifile f;
    int fd = begin(&f);

    for (size_t i = 0; i < sizeof text - 1; i++) {
        CHECK_EQ(write(fd, text + i, 1), 1);
        CHECK_EQ(nnifile_read(&f, 1 << 20, take, &seen, NULL), 0);
        CHECK_EQ(nnifile_rest(&f, NULL),
                 i == 10 || i == 18 || i == 38 ? 0 : -1);
    }
    CHECK_STR(buf_text(&seen), "[0 {}\n][11 ][19 two\nlines \303\251]");
    end(&f, fd);
}

TEST(manager_nnifile_gives_a_broken_header_up)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"ME000001xMD", "byte 9: expected ME and 6 digits, got 'MD'"},
        {"ME000001x\n", "byte 9: expected ME and 6 digits, got '?'"},
        {"ME000001xME 00001y", "byte 9: expected ME and 6 digits, got 'ME 0"},
        {"ME000001xME00001{\"value", "got 'ME00001{\"value'"},
        {"ME000001xME-00001", "got 'ME-00001'"},
        {"ME000001xintermediate 0.123456789", "got 'intermediate 0.1...'"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct nnifile f;
        struct err err;
        int fd = begin(&f);

        CHECK_EQ(add(fd, cases[i].text), 0);
        CHECK_EQ(nnifile_read(&f, 1 << 20, take, &seen, &err), -1);
        CHECK_EQ(err.code, ERR_INPUT);
        CHECK_HAS(err.text, cases[i].want);
        CHECK_HAS(err.text, "what follows is not read");
        CHECK_EQ(add(fd, "ME000001z"), 0);
        CHECK_EQ(nnifile_read(&f, 1 << 20, take, &seen, &err), 0);
        CHECK_EQ(nnifile_drain(&f, 1 << 20, take, &seen, &err), 0);
        CHECK_EQ(nnifile_rest(&f, &err), 0);
        CHECK_STR(buf_text(&seen), "[0 x]");
        end(&f, fd);
        unlink("f");
    }
}

TEST(manager_nnifile_names_what_is_incomplete)
{
    struct nnifile f;
    struct err err;
    int fd = begin(&f);

    CHECK_EQ(nnifile_drain(&f, 1 << 20, take, &seen, &err), 0);
    CHECK_EQ(add(fd, "ME000001xME000009rest"), 0);
    CHECK_EQ(nnifile_drain(&f, 1 << 20, take, &seen, &err), 0);
    CHECK_STR(buf_text(&seen), "[0 x]");
    CHECK_EQ(nnifile_rest(&f, &err), -1);
    CHECK_HAS(err.text, "byte 9: the last record is incomplete, 12 bytes");
    end(&f, fd);
}

TEST(manager_nnifile_reads_the_longest_record)
{
    struct nnifile f;
    int fd = begin(&f), rounds = 0;
    char *big = malloc(1000008);

    CHECK(big != NULL);
    memset(big, 'x', 1000007);
    memcpy(big, "ME999999", 8);
    big[1000007] = '\0';
    CHECK_EQ(add(fd, big), 0);
    CHECK_EQ(add(fd, big), 0);
    while (nnifile_read(&f, 65536, take, &seen, NULL) == 1)
        rounds++;
    CHECK(rounds >= 30);
    CHECK_EQ(seen.len, 2 * 999999 + strlen("[0 ][1000007 ]"));
    free(big);
    end(&f, fd);
}

/* NNI 1.x opens the file for writing from its beginning. */
TEST(manager_nnifile_begins_again_when_the_file_is_emptied)
{
    struct nnifile f;
    int fd = begin(&f);

    CHECK_EQ(add(fd, "ME000001aME000001bME00"), 0);
    CHECK_EQ(nnifile_read(&f, 1 << 20, take, &seen, NULL), 0);
    CHECK_EQ(ftruncate(fd, 0), 0);
    CHECK_EQ(add(fd, "ME000001c"), 0);
    CHECK_EQ(nnifile_drain(&f, 1 << 20, take, &seen, NULL), 0);
    CHECK_STR(buf_text(&seen), "[0 a][9 b][0 c]");
    end(&f, fd);
}

TEST(manager_nnifile_drains_what_stood_there)
{
    struct nnifile f;
    int fd = begin(&f), rounds = 0;
    char *big = malloc(900001);

    CHECK(big != NULL);
    for (int i = 0; i < 100000; i++)
        memcpy(big + 9 * i, "ME000001x", 10);
    CHECK_EQ(add(fd, big), 0);
    while (nnifile_drain(&f, 65536, take, &seen, NULL) == 1) {
        rounds++;
        CHECK_EQ(add(fd, big), 0); /* somebody who never ends */
    }
    CHECK(rounds >= 13 && rounds <= 14);
    free(big);
    end(&f, fd);
}

TEST(manager_nnifile_names_a_missing_file)
{
    struct nnifile f;
    struct err err;

    CHECK_EQ(nnifile_open(&f, "absent", &err), -1);
    CHECK_HAS(err.text, "absent: ");
    nnifile_close(&f);
}

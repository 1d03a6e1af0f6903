/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "manager/tail.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct buf seen;

/* Each line as "[line]", "[line!" when it is too long. */
static void
take(void *ctx, const char *line, size_t len, bool too_long)
{
    CHECK(ctx == &seen);
    CHECK_EQ(line[len], '\0');
    buf_printf(&seen, "[%s%s", line, too_long ? "!" : "]");
}

static int
add(int fd, const char *text)
{
    return file_write_all(fd, text, strlen(text), NULL);
}

static int
begin(struct tail *t, size_t max_line)
{
    int fd = open("f", O_CREAT | O_WRONLY | O_APPEND, 0600);

    buf_init(&seen, 1 << 20);
    CHECK_EQ(tail_open(t, "f", max_line, NULL), 0);
    return fd;
}

static void
end(struct tail *t, int fd)
{
    tail_close(t);
    close(fd);
    buf_fini(&seen);
}

TEST(manager_tail_waits_for_the_line_end)
{
    struct tail t;
    int fd = begin(&t, 100);

    add(fd, "one\ntw");
    CHECK_EQ(tail_read(&t, 1 << 20, take, &seen, NULL), 0);
    CHECK_STR(buf_text(&seen), "[one]");
    CHECK_EQ(tail_read(&t, 1 << 20, take, &seen, NULL), 0);
    CHECK_STR(buf_text(&seen), "[one]");
    add(fd, "o\n\nthree\nfour");
    CHECK_EQ(tail_drain(&t, SIZE_MAX, take, &seen, NULL), 0);
    CHECK_STR(buf_text(&seen), "[one][two][][three]");
    CHECK_EQ(t.lines, 4);
    tail_rest(&t, take, &seen);
    tail_rest(&t, take, &seen);
    CHECK_STR(buf_text(&seen), "[one][two][][three][four]");
    end(&t, fd);
}

TEST(manager_tail_hands_out_the_beginning_of_a_line_too_long)
{
    struct tail t;
    int fd = begin(&t, 8); /* seven and the line end */

    add(fd, "1234567\n12345678\n12\n");
    CHECK_EQ(tail_read(&t, 1 << 20, take, &seen, NULL), 0);
    CHECK_STR(buf_text(&seen), "[1234567][12345678![12]");
    buf_clear(&seen);
    add(fd, "123456789"); /* no end yet, and too long already */
    CHECK_EQ(tail_read(&t, 1 << 20, take, &seen, NULL), 0);
    CHECK_STR(buf_text(&seen), "[123456789!");
    add(fd, "0 still the same line ");
    CHECK_EQ(tail_read(&t, 1 << 20, take, &seen, NULL), 0);
    add(fd, "and its end\nnext\n");
    CHECK_EQ(tail_read(&t, 1 << 20, take, &seen, NULL), 0);
    CHECK_STR(buf_text(&seen), "[123456789![next]");
    CHECK_EQ(t.lines, 5);
    end(&t, fd);
}

TEST(manager_tail_reads_in_portions)
{
    struct tail t;
    int fd = begin(&t, 100), rounds = 0;
    char *big = malloc(400001);

    for (int i = 0; i < 100000; i++)
        memcpy(big + 4 * i, "abc\n", 5);
    add(fd, big);
    while (tail_read(&t, 65536, take, &seen, NULL) == 1)
        rounds++;
    CHECK(rounds >= 6);
    CHECK_EQ(t.lines, 100000);
    free(big);
    end(&t, fd);
}

TEST(manager_tail_drains_in_portions_what_stood_there)
{
    struct tail t;
    int fd = begin(&t, 100), rounds = 0;
    char *big = malloc(400001);

    for (int i = 0; i < 100000; i++)
        memcpy(big + 4 * i, "abc\n", 5);
    add(fd, big);
    while (tail_drain(&t, 65536, take, &seen, NULL) == 1) {
        rounds++;
        add(fd, big); /* somebody who never ends */
    }
    CHECK(rounds == 6);
    CHECK(t.lines >= 100000 && t.lines < 120000);
    free(big);
    end(&t, fd);
}

TEST(manager_tail_keeps_nul_bytes_and_takes_pipes)
{
    struct tail t;
    int fds[2];

    buf_init(&seen, 1 << 20);
    CHECK_EQ(pipe2(fds, O_NONBLOCK), 0);
    tail_attach(&t, fds[0], 100);
    CHECK_EQ(tail_read(&t, 100, take, &seen, NULL), 0);
    CHECK(!t.ended);
    CHECK_EQ(write(fds[1], "a\0b\nrest", 8), 8);
    close(fds[1]);
    CHECK_EQ(tail_read(&t, 100, take, &seen, NULL), 0);
    CHECK(t.ended);
    CHECK_STR(buf_text(&seen), "[a]");
    tail_rest(&t, take, &seen);
    CHECK_STR(buf_text(&seen), "[a][rest]");
    tail_close(&t);
    buf_fini(&seen);
}

TEST(manager_tail_names_a_missing_file)
{
    struct err err;
    struct tail t;

    CHECK_EQ(tail_open(&t, "absent", 100, &err), -1);
    CHECK_HAS(err.text, "absent: cannot open: No such file");
    tail_close(&t);
}

static void
take_place(void *ctx, const char *line, size_t len, bool too_long)
{
    const struct tail *t = ctx;

    (void)len;
    if (!too_long)
        buf_printf(&seen, "[%s %d]", line, (int)t->at);
}

TEST(manager_tail_tells_where_a_line_ends)
{
    struct tail t;
    int fd = begin(&t, 10);

    add(fd, "a\nbcd\ne");
    CHECK_EQ(tail_read(&t, 100, take_place, &t, NULL), 0);
    add(fd, "f\n0123456789012345678\ng\n");
    CHECK_EQ(tail_read(&t, 100, take_place, &t, NULL), 0);
    CHECK_STR(buf_text(&seen), "[a 2][bcd 6][ef 9][g 31]");
    end(&t, fd);
}

/* SPDX-License-Identifier: MIT */
#include "dispatcher/channel.h"

#include "dispatcher_help.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

struct ends {
    struct channel channel;
    struct frame_decoder decoder;
    int to, from; /* the peer's */
};

static void
open_ends(struct ends *e, bool sockets)
{
    int in[2], out[2];
    struct err err;

    if (sockets) {
        CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, in), 0);
        CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, out), 0);
    } else {
        CHECK_EQ(pipe(in), 0);
        CHECK_EQ(pipe(out), 0);
    }
    e->to = in[1];
    e->from = out[0];
    CHECK_EQ(channel_open(&e->channel, in[0], out[1], &err), 0);
    frame_decoder_init(&e->decoder, FRAME_DIGITS, 1000);
}

static void
close_ends(struct ends *e)
{
    channel_close(&e->channel);
    frame_decoder_fini(&e->decoder);
    close(e->to);
    close(e->from);
}

static bool
is_null(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) &&
           st.st_rdev == makedev(1, 3);
}

static bool
is_same(int a, int b)
{
    struct stat x, y;

    return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_ino == y.st_ino &&
           x.st_dev == y.st_dev && x.st_rdev == y.st_rdev;
}

TEST(channel_takes_0_and_1_away_from_plugins)
{
    struct channel c;
    struct err err;
    int in[2], out[2], fd;

    CHECK_EQ(pipe(in), 0);
    CHECK_EQ(pipe(out), 0);
    dup2(in[0], 0);
    dup2(out[1], 1);
    CHECK_EQ(channel_open(&c, 0, 1, &err), 0);
    CHECK(c.in >= 10 && c.out >= 10);
    CHECK(fcntl(c.in, F_GETFD) & FD_CLOEXEC);
    CHECK(fcntl(c.out, F_GETFD) & FD_CLOEXEC);
    CHECK(is_null(0) && is_same(1, 2) && !is_same(1, c.out));
    CHECK(!(fcntl(0, F_GETFD) & FD_CLOEXEC));
    channel_close(&c);
    fd = open("file", O_CREAT | O_RDWR, 0600);
    CHECK(fd > 2);
}

/* A parent that closed 0 and 1 (or 2): nothing that is opened later may get
 * these numbers, or what a plugin prints ends in the command log. */
TEST(channel_fills_0_1_and_2_where_they_are_closed)
{
    dup2(open("err", O_CREAT | O_WRONLY, 0600), 2); /* not /dev/null */
    for (int closed = 1; closed < 8; closed++) {
        struct channel c;
        struct err err;
        int in[2], out[2], fd, kept[3];

        CHECK_EQ(pipe(in), 0);
        CHECK_EQ(pipe(out), 0);
        for (int i = 0; i < 3; i++) {
            kept[i] = fcntl(i, F_DUPFD_CLOEXEC, 50);
            if (closed >> i & 1)
                close(i);
        }
        CHECK_EQ(channel_open(&c, in[0], out[1], &err), 0);
        fd = open("file", O_CREAT | O_RDWR, 0600);
        CHECK(fd > 2);
        CHECK(is_null(0) && is_same(1, 2));
        CHECK_EQ(is_null(2), (closed & 4) != 0);
        close(fd);
        channel_close(&c);
        close(in[1]);
        close(out[0]);
        for (int i = 0; i < 3; i++) {
            dup2(kept[i], i);
            close(kept[i]);
        }
    }
}

TEST(channel_refuses_what_is_not_open)
{
    struct channel c;
    struct err err;
    int in[2];

    CHECK_EQ(pipe(in), 0);
    CHECK_EQ(channel_open(&c, 77, in[1], &err), -1);
    CHECK_HAS(err.text, "descriptor 77 is not open");
    CHECK_EQ(err.code, ERR_USAGE);
    CHECK_EQ(channel_open(&c, in[0], 78, &err), -1);
    CHECK_HAS(err.text, "descriptor 78 is not open");
}

TEST(channel_reads_until_the_end)
{
    for (int sockets = 0; sockets < 2; sockets++) {
        struct ends e;
        struct frame f;
        struct err err;

        open_ends(&e, sockets);
        CHECK_EQ(write(e.to, "PI00000000000000GE0000", 22), 22);
        CHECK_EQ(channel_read(&e.channel, &e.decoder, &err), CHANNEL_OK);
        CHECK_EQ(frame_next(&e.decoder, &f, &err), FRAME_READY);
        CHECK_STR(f.code, "PI");
        CHECK_EQ(frame_pending(&e.decoder), 6);
        if (sockets)
            CHECK_EQ(channel_read(&e.channel, &e.decoder, &err), CHANNEL_WAIT);
        close(e.to);
        CHECK_EQ(channel_read(&e.channel, &e.decoder, &err), CHANNEL_EOF);
        close_ends(&e);
    }
}

TEST(channel_that_cannot_be_read_says_so)
{
    struct channel c;
    struct frame_decoder d;
    struct err err;
    int fd = open("file", O_CREAT | O_WRONLY, 0600);

    frame_decoder_init(&d, FRAME_DIGITS, 1000);
    CHECK_EQ(channel_open(&c, fd, fd, &err), 0);
    CHECK_EQ(channel_read(&c, &d, &err), CHANNEL_ERROR);
    CHECK_HAS(err.text, "input: cannot read: ");
    CHECK_EQ(err.code, ERR_PROTOCOL);
    buf_add_text(&c.text, "hello");
    CHECK_EQ(channel_write(&c, &err), CHANNEL_OK); /* a file takes all */
    channel_close(&c);
    frame_decoder_fini(&d);
}

static char
pattern(size_t i)
{
    return (char)('a' + i % 23);
}

/* A peer that does not read is never waited for; what it reads later is
 * whole. */
TEST(channel_never_blocks)
{
    enum { TOTAL = 3000000 };
    static char got[TOTAL];

    for (int sockets = 0; sockets < 2; sockets++) {
        struct ends e;
        struct err err;
        size_t n = 0;

        open_ends(&e, sockets);
        for (size_t i = 0; i < TOTAL; i++)
            buf_add_char(&e.channel.text, pattern(i));
        while (n < TOTAL) {
            enum channel_status status = channel_write(&e.channel, &err);
            ssize_t r;

            CHECK(status == CHANNEL_WAIT || status == CHANNEL_OK);
            CHECK_EQ(status == CHANNEL_OK, channel_pending(&e.channel) == 0);
            r = read(e.from, got + n, TOTAL - n);
            CHECK(r > 0);
            n += (size_t)r;
        }
        for (size_t i = 0; i < TOTAL; i++)
            if (got[i] != pattern(i))
                CHECK_EQ(i, -1);
        CHECK_EQ(channel_write(&e.channel, &err), CHANNEL_OK);
        close_ends(&e);
    }
}

/* A peer that reads, but always leaves something, must not make it grow. */
TEST(channel_gives_back_what_was_written)
{
    struct ends e;
    struct err err;
    static char got[100000];
    size_t most = 0;

    open_ends(&e, false);
    for (int i = 0; i < 500000; i++)
        buf_add_char(&e.channel.text, 'x');
    CHECK_EQ(channel_write(&e.channel, &err), CHANNEL_WAIT);
    for (int i = 0; i < 3000; i++) {
        ssize_t r = read(e.from, got, 40000);

        CHECK(r > 0);
        for (ssize_t k = 0; k < r; k++)
            buf_add_char(&e.channel.text, 'x');
        CHECK_EQ(channel_write(&e.channel, &err), CHANNEL_WAIT);
        most = e.channel.text.len > most ? e.channel.text.len : most;
    }
    CHECK(most < 1200000);
    close_ends(&e);
}

TEST(channel_tells_once_that_the_peer_is_gone)
{
    for (int sockets = 0; sockets < 2; sockets++) {
        struct ends e;
        struct err err;

        open_ends(&e, sockets);
        close(e.from);
        buf_add_text(&e.channel.text, "hello");
        CHECK_EQ(channel_write(&e.channel, &err), CHANNEL_ERROR);
        CHECK_HAS(err.text, "output: the manager reads no more: Broken pipe");
        CHECK_EQ(err.code, ERR_PROTOCOL);
        CHECK(e.channel.out_gone);
        CHECK_EQ(channel_pending(&e.channel), 0);
        buf_add_text(&e.channel.text, "hello");
        CHECK_EQ(channel_write(&e.channel, &err), CHANNEL_OK);
        CHECK_EQ(channel_pending(&e.channel), 0);
        close_ends(&e);
    }
}

/* A frame that cannot be written must not be lost without a word. */
TEST(channel_tells_of_a_frame_that_is_too_long)
{
    struct ends e;
    struct err err;
    char *long_payload = calloc(1, 1000000);

    open_ends(&e, false);
    frame_encode(&e.channel.text, FRAME_DIGITS_OLD, "TR", long_payload,
                 1000000);
    CHECK_EQ(channel_write(&e.channel, &err), CHANNEL_ERROR);
    CHECK_HAS(err.text, "output: a frame too long for its header");
    free(long_payload);
    close_ends(&e);
}

TEST(channel_drops_all_but_the_rest_of_a_begun_frame)
{
    struct ends e;
    char got[4096], payload[3000];
    ssize_t n = 1, total = 0;
    struct err err;

    memset(payload, 'x', sizeof payload);
    open_ends(&e, true);
    e.channel.digits = FRAME_DIGITS;
    for (int i = 0; i < 200; i++)
        frame_encode(&e.channel.text, FRAME_DIGITS, "TR", payload,
                     sizeof payload);
    CHECK_EQ(channel_write(&e.channel, &err), CHANNEL_WAIT);
    channel_drop(&e.channel);
    CHECK(channel_pending(&e.channel) < sizeof payload + FRAME_HEADER_MAX);
    while (n > 0) {
        n = recv(e.from, got, sizeof got, MSG_DONTWAIT);
        total += n > 0 ? n : 0;
    }
    CHECK_EQ(channel_write(&e.channel, &err), CHANNEL_OK);
    n = recv(e.from, got, sizeof got, MSG_DONTWAIT);
    total += n > 0 ? n : 0;
    CHECK_EQ(total % (ssize_t)(sizeof payload + FRAME_HEADER_MAX), 0);
    close_ends(&e);
}

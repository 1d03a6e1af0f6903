/* SPDX-License-Identifier: MIT */
#include "dispatcher/channel.h"

#include "core/err.h"
#include "frame.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define HIGH_FD 10
#define TEXT_MAX ((size_t)1 << 40) /* bounded by not reading, see gauge.h */

static bool
is_socket(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode);
}

static int
move_high(int fd, struct err *err)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);

    if (high < 0)
        err_errno(err, ERR_USAGE, "descriptor %d is not open", fd);
    return high;
}

static int
shield_stdio(int in_fd, int out_fd, struct err *err)
{
    int null = open("/dev/null", O_RDWR);

    if (null < 0)
        return err_errno(err, ERR_SYSTEM, "/dev/null");
    /* The descriptor of /dev/null may itself be 0, 1 or 2 where those were
     * closed. */
    if (dup2(null, 0) < 0 || (fcntl(2, F_GETFD) < 0 && dup2(null, 2) < 0) ||
        dup2(2, 1) < 0) {
        err_errno(err, ERR_SYSTEM, "cannot set up descriptors");
        if (null > 2)
            close(null);
        return -1;
    }
    if (null > 2)
        close(null);
    if (in_fd > 2)
        close(in_fd);
    if (out_fd > 2 && out_fd != in_fd)
        close(out_fd);
    return 0;
}

int
channel_open(struct channel *c, int in_fd, int out_fd, struct err *err)
{
    *c = (struct channel){.in = -1, .out = -1};
    buf_init(&c->text, TEXT_MAX);
    c->in = move_high(in_fd, err);
    if (c->in < 0)
        return -1;
    c->out = move_high(out_fd, err);
    if (c->out < 0 || shield_stdio(in_fd, out_fd, err) != 0) {
        channel_close(c);
        return -1;
    }
    c->in_is_socket = is_socket(c->in);
    c->out_is_socket = is_socket(c->out);
    signal(SIGPIPE, SIG_IGN);
    return 0;
}

void
channel_adopt(struct channel *c, int in_fd, int out_fd)
{
    *c = (struct channel){.in = in_fd, .out = out_fd};
    buf_init(&c->text, TEXT_MAX);
    c->in_is_socket = is_socket(in_fd);
    c->out_is_socket = is_socket(out_fd);
}

void
channel_close(struct channel *c)
{
    if (c->in >= 0)
        close(c->in);
    if (c->out >= 0)
        close(c->out);
    c->in = c->out = -1;
    buf_fini(&c->text);
}

enum channel_status
channel_read(struct channel *c, struct frame_decoder *d, struct err *err)
{
    return channel_read_some(c, d, SIZE_MAX, err);
}

enum channel_status
channel_read_some(struct channel *c, struct frame_decoder *d, size_t most,
                  struct err *err)
{
    size_t room;
    char *to = frame_room(d, &room);
    ssize_t n;

    if (to == NULL) {
        err_set(err, ERR_MEMORY, "input: out of memory");
        return CHANNEL_ERROR;
    }
    if (room > most)
        room = most;
    n = c->in_is_socket ? recv(c->in, to, room, MSG_DONTWAIT)
                        : read(c->in, to, room);
    if (n > 0) {
        frame_filled(d, (size_t)n);
        return CHANNEL_OK;
    }
    if (n == 0 || errno == ECONNRESET || errno == EIO)
        return CHANNEL_EOF; /* EIO: the terminal hung up */
    if (errno == EAGAIN || errno == EINTR)
        return CHANNEL_WAIT;
    err_errno(err, ERR_PROTOCOL, "input: cannot read");
    return CHANNEL_ERROR;
}

size_t
channel_pending(const struct channel *c)
{
    return c->text.len - c->at;
}

static void
clear_text(struct channel *c)
{
    buf_clear(&c->text);
    c->at = c->left = 0;
}

void
channel_drop(struct channel *c)
{
    size_t left = c->left;

    if (left == 0 || c->out_gone) {
        clear_text(c);
        return;
    }
    buf_consume(&c->text, c->at);
    c->text.len = left;
    c->at = 0;
}

/* Counts n more bytes as written, frame by frame. */
static void
count_written(struct channel *c, size_t n)
{
    while (n > 0) {
        size_t part;

        if (c->left == 0)
            c->left = c->digits == 0
                          ? 0
                          : frame_size(c->text.data + c->at, c->digits);
        part = c->left == 0 || n < c->left ? n : c->left;
        c->left -= c->left == 0 ? 0 : part;
        c->at += part;
        n -= part;
    }
}

static ssize_t
write_some(struct channel *c)
{
    const char *from = c->text.data + c->at;
    size_t len = channel_pending(c);
    struct pollfd p = {.fd = c->out, .events = POLLOUT};

    if (c->out_is_socket)
        return send(c->out, from, len, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (poll(&p, 1, 0) == 0) {
        errno = EAGAIN;
        return -1;
    }
    return write(c->out, from, len < PIPE_BUF ? len : PIPE_BUF);
}

/* Frees the part of the text that is written.  A manager that always leaves
 * something unread must not make the text grow: the written part is given back
 * when it is at least as long as the rest, so each byte is moved at most once
 * on average. */
static void
forget_written(struct channel *c)
{
    if (c->at < channel_pending(c))
        return;
    buf_consume(&c->text, c->at);
    c->at = 0;
}

enum channel_status
channel_write(struct channel *c, struct err *err)
{
    if (c->text.failed) {
        c->out_gone = true;
        clear_text(c);
        err_set(err, ERR_MEMORY,
                "output: a frame too long for its header, or out of memory");
        return CHANNEL_ERROR;
    }
    while (!c->out_gone && channel_pending(c) > 0) {
        ssize_t n = write_some(c);

        if (n >= 0) {
            count_written(c, (size_t)n);
            continue;
        }
        if (errno == EINTR)
            continue;
        if (errno == EAGAIN) {
            forget_written(c);
            return CHANNEL_WAIT;
        }
        c->out_gone = true;
        clear_text(c);
        err_errno(err, ERR_PROTOCOL, "output: the manager reads no more");
        return CHANNEL_ERROR;
    }
    clear_text(c);
    return CHANNEL_OK;
}

/* SPDX-License-Identifier: MIT */
#include "bridge/relay.h"

#include "core/err.h"
#include "core/log.h"
#include "scan.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A message of 3.0 is JSON text in a JSON string: a byte of the payload takes
 * six at most, \u0000, and the object around it some more. */
#define WORST_ESCAPE 6
#define AROUND 1024

void
relay_init(struct relay *r, int fd, size_t max_payload, const struct log *log)
{
    *r = (struct relay){.fd = fd, .max_payload = max_payload, .log = log};
    r->max_message = max_payload > (SIZE_MAX / 4 - AROUND) / WORST_ESCAPE
                         ? SIZE_MAX / 4
                         : max_payload * WORST_ESCAPE + AROUND;
    buf_init(&r->message, r->max_message);
    buf_init(&r->frames, SIZE_MAX / 4); /* bounded by relay_holding() */
    frame_decoder_init(&r->decoder, FRAME_DIGITS, max_payload);
    r->last = &r->first;
}

static void
close_socket(struct relay *r)
{
    if (r->fd >= 0)
        close(r->fd);
    r->fd = -1;
    r->ended = true;
    buf_fini(&r->frames);
    r->at = 0;
}

static void
drop_messages(struct relay *r)
{
    while (r->first != NULL)
        relay_sent(r);
}

void
relay_fini(struct relay *r)
{
    close_socket(r);
    drop_messages(r);
    buf_fini(&r->message);
    buf_fini(&r->frames);
    frame_decoder_fini(&r->decoder);
}

/* ---- from the manager ---- */

void
relay_forget(struct relay *r)
{
    buf_clear(&r->message);
    r->lost = 0;
}

bool
relay_holding(const struct relay *r)
{
    return r->frames.len - r->at > RELAY_FULL;
}

static int
take_message(struct relay *r, enum message *m, struct err *err)
{
    struct err why;
    bool muted = r->finishing || r->ended;
    size_t before = r->frames.len;

    *m = dialect_read(&r->dialect, r->message.data, r->message.len, &r->frames,
                      &why);
    if (*m == MESSAGE_STRANGE)
        log_warning(r->log, "the manager sent %s: ignored", why.text);
    if (r->frames.failed)
        return err_set(err, ERR_MEMORY, "a message of %zu bytes: out of memory",
                       r->message.len);
    if (muted)
        r->frames.len = before;
    return 0;
}

int
relay_receive(struct relay *r, const void *part, size_t len, bool last,
              enum message *m, struct err *err)
{
    int rc = 0;

    *m = MESSAGE_NOTHING;
    buf_add(&r->message, part, len);
    if (r->message.failed)
        r->lost += len;
    if (!last)
        return 0;
    if (r->lost > 0)
        rc = err_set(err, ERR_INPUT,
                     "the manager's message of %zu bytes is over the limit of "
                     "%zu, or there is no memory for it",
                     r->message.len + r->lost, r->max_message);
    else
        rc = take_message(r, m, err);
    relay_forget(r);
    if (r->message.cap > RELAY_FULL)
        buf_fini(&r->message);
    return rc;
}

void
relay_finish(struct relay *r)
{
    r->finishing = true;
    r->muted = true;
    drop_messages(r);
}

/* ---- with the dispatcher ---- */

short
relay_events(const struct relay *r)
{
    short events = 0;

    if (r->fd < 0 || r->ended)
        return 0;
    if (r->waiting <= RELAY_FULL && (r->dialect != DIALECT_UNKNOWN || r->muted))
        events |= POLLIN;
    if (r->at < r->frames.len || (r->finishing && !r->finished))
        events |= POLLOUT;
    return events;
}

static int
add_message(struct relay *r, const char code[2], const char *payload,
            size_t len, struct err *err)
{
    struct relay_message *m;
    struct buf text;

    buf_init(&text, SIZE_MAX / 4);
    buf_reserve(&text, sizeof *m + len + AROUND);
    if (!text.failed)
        text.len = sizeof *m;
    dialect_write(r->dialect, &text, code, payload, len);
    if (text.failed) {
        buf_fini(&text);
        return err_set(err, ERR_MEMORY,
                       "the dispatcher's %.2s of %zu bytes: out of memory",
                       code, len);
    }
    m = (struct relay_message *)(void *)text.data;
    m->next = NULL;
    m->len = text.len - sizeof *m;
    *r->last = m;
    r->last = &m->next;
    r->waiting += m->len;
    return 0;
}

/* Reads the dispatcher's frames.  It is ours and sends nothing else; if it did,
 * nothing behind that could be understood. */
static int
take_frames(struct relay *r, struct err *err)
{
    enum frame_status status;
    struct frame f;

    while ((status = frame_next(&r->decoder, &f, err)) == FRAME_READY)
        if (!r->muted && add_message(r, f.code, f.payload, f.len, err) != 0)
            return -1;
    return status == FRAME_BROKEN ? err_place(err, "the dispatcher") : 0;
}

static int
read_frames(struct relay *r, struct err *err)
{
    while (relay_events(r) & POLLIN) {
        size_t room;
        char *to = frame_room(&r->decoder, &room);
        ssize_t n = to == NULL ? 0 : recv(r->fd, to, room, MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return 0;
        if (n <= 0) {
            close_socket(r);
            return 0;
        }
        frame_filled(&r->decoder, (size_t)n);
        if (take_frames(r, err) != 0) {
            close_socket(r);
            return -1;
        }
    }
    return 0;
}

static void
forget_written(struct relay *r)
{
    if (r->at < r->frames.len - r->at)
        return;
    buf_consume(&r->frames, r->at);
    r->at = 0;
    if (r->frames.len == 0 && r->frames.cap > RELAY_FULL)
        buf_fini(&r->frames);
}

/* Writes frames to the dispatcher.  One that reads no more is at its end, which
 * will show soon. */
static void
write_frames(struct relay *r)
{
    while (r->fd >= 0 && r->at < r->frames.len) {
        ssize_t n = send(r->fd, r->frames.data + r->at, r->frames.len - r->at,
                         MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        r->at = n < 0 ? r->frames.len : r->at + (size_t)n;
    }
    forget_written(r);
    if (r->finishing && !r->finished && r->frames.len == 0 && r->fd >= 0) {
        r->finished = true;
        shutdown(r->fd, SHUT_WR);
    }
}

int
relay_serve(struct relay *r, struct err *err)
{
    write_frames(r);
    return read_frames(r, err);
}

/* ---- to the manager ---- */

struct relay_message *
relay_next(struct relay *r)
{
    return r->first;
}

void
relay_sent(struct relay *r)
{
    struct relay_message *m = r->first;

    r->first = m->next;
    if (r->first == NULL)
        r->last = &r->first;
    r->waiting -= m->len;
    free(m);
}

/* A text message must be UTF-8, whatever the text was made of. */
void
relay_error(struct relay *r, const char *text)
{
    size_t len = strlen(text);
    struct buf clean;
    struct err err;

    buf_init(&clean, 2 * ERR_TEXT_MAX + 3 * len);
    for (size_t i = 0; i < len;) {
        size_t n = scan_utf8(text + i, len - i);

        buf_add(&clean, n == 0 ? "?" : text + i, n == 0 ? 1 : n);
        i += n == 0 ? 1 : n;
    }
    if (add_message(r, "ER", clean.failed ? "" : clean.data, clean.len, &err) !=
        0)
        log_error(r->log, "%s", err.text);
    buf_fini(&clean);
}

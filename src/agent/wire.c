/* SPDX-License-Identifier: MIT */
#include "agent/wire.h"

#include "core/err.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FRAME_MAX ((size_t)4 << 20)
#define UNSENT_MAX ((size_t)256 << 20)
#define BANNER_MAX ((size_t)1 << 20)
#define NUMBER_MAX 20 /* digits of a version */

static void
unblock(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    if (flags >= 0)
        fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

void
wire_open(struct wire *c, int in, int out, bool skips)
{
    *c = (struct wire){.in = in, .out = out, .begun = !skips};
    unblock(in);
    unblock(out);
    frame_decoder_init(&c->decoder, FRAME_DIGITS, FRAME_MAX);
    buf_init(&c->unsent, UNSENT_MAX);
}

void
wire_close(struct wire *c)
{
    if (!wire_is_open(c))
        return;
    close(c->in);
    if (c->out != c->in)
        close(c->out);
    c->in = c->out = -1;
    frame_decoder_fini(&c->decoder);
    buf_fini(&c->unsent);
}

bool
wire_is_open(const struct wire *c)
{
    return c->in >= 0;
}

/* ---- said ---- */

void
texts_add(struct buf *b, const char *text)
{
    buf_add(b, text, strlen(text) + 1);
}

/* srun passes on whole lines. */
void
wire_say_texts(struct wire *c, const char code[2], struct buf *texts)
{
    buf_add_char(texts, '\n');
    if (texts->failed)
        c->unsent.failed = true;
    else if (wire_is_open(c))
        frame_encode(&c->unsent, FRAME_DIGITS, code, texts->data, texts->len);
}

void
wire_say_words(struct wire *c, const char *const words[])
{
    struct buf texts;

    buf_init(&texts, FRAME_MAX);
    for (size_t i = 1; words[i] != NULL; i++)
        texts_add(&texts, words[i]);
    wire_say_texts(c, words[0], &texts);
    buf_fini(&texts);
}

bool
wire_is_full(const struct wire *c)
{
    return wire_is_open(c) && (c->unsent.len > 0 || c->unsent.failed);
}

int
wire_flush(struct wire *c, struct err *err)
{
    if (!wire_is_open(c))
        return 0;
    if (buf_check(&c->unsent, "what is to be said to another machine", err) !=
        0)
        return -1;
    while (c->unsent.len > 0) {
        ssize_t n = write(c->out, c->unsent.data, c->unsent.len);

        if (n < 0 && errno == EAGAIN)
            return 0;
        if (n < 0 && errno != EINTR)
            return err_errno(err, ERR_SYSTEM, "the channel has broken");
        buf_consume(&c->unsent, n > 0 ? (size_t)n : 0);
    }
    return 0;
}

/* ---- heard ---- */

int
wire_read(struct wire *c, struct err *err)
{
    size_t room;
    char *to = frame_room(&c->decoder, &room);
    ssize_t n;

    if (to == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    n = read(c->in, to, room);
    if (n > 0) {
        frame_filled(&c->decoder, (size_t)n);
        return 1;
    }
    if (n == 0)
        return err_set(err, ERR_SYSTEM, "the channel has ended");
    if (errno != EAGAIN && errno != EINTR)
        return err_errno(err, ERR_SYSTEM, "the channel has broken");
    return 0;
}

/* The version of an agent's magic line that is not ours; 0: there is none. */
static unsigned long
find_other(struct buf *in)
{
    const char *text = buf_text(in);
    const char *line =
        in->len == 0 ? NULL
                     : memmem(text, in->len, AGENT_NAME, strlen(AGENT_NAME));
    unsigned long version;
    char *end;

    if (line == NULL)
        return 0;
    version = strtoul(line + strlen(AGENT_NAME), &end, 10);
    return *end == '\n' ? version : 0;
}

/* Drops what stands before the magic line, and that. */
static int
skip(struct wire *c, struct err *err)
{
    struct buf *in = &c->decoder.in;
    size_t len = strlen(AGENT_MAGIC), kept = len + NUMBER_MAX, drop = 0;
    char *magic =
        in->len < len ? NULL : memmem(in->data, in->len, AGENT_MAGIC, len);

    c->begun = magic != NULL;
    if (c->begun)
        drop = (size_t)(magic - in->data) + len;
    else if ((c->other = find_other(in)) != 0)
        return err_set(err, ERR_PROTOCOL,
                       "expected an agent that speaks version " AGENT_VERSION
                       ", got one of version %lu",
                       c->other);
    else if (in->len > kept)
        drop = in->len - kept;
    c->passed += drop;
    buf_consume(in, drop);
    return c->passed <= BANNER_MAX
               ? 0
               : err_set(err, ERR_PROTOCOL,
                         "expected the line '%.*s' of an agent of this "
                         "version, got %zu bytes without it",
                         (int)len - 1, AGENT_MAGIC, c->passed);
}

int
wire_next(struct wire *c, struct said *out, struct err *err)
{
    struct frame frame;

    if (!c->begun && skip(c, err) != 0)
        return -1;
    if (!c->begun)
        return 0;
    switch (frame_next(&c->decoder, &frame, err)) {
    case FRAME_PARTIAL:
        return 0;
    case FRAME_BROKEN:
        return -1;
    case FRAME_READY:
        break;
    }
    memcpy(out->code, frame.code, sizeof out->code);
    out->at = frame.payload;
    out->end = frame.payload + frame.len;
    return 1;
}

const char *
said_text(struct said *s)
{
    const char *text = s->at;
    const char *nul =
        s->at < s->end ? memchr(s->at, '\0', (size_t)(s->end - s->at)) : NULL;

    if (nul == NULL)
        return NULL;
    s->at = nul + 1;
    return text;
}

unsigned long long
said_number(struct said *s)
{
    const char *text = said_text(s);

    return text != NULL ? strtoull(text, NULL, 10) : 0;
}

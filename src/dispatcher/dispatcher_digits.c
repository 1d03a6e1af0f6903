/* SPDX-License-Identifier: MIT */
#include "dispatcher/dispatcher_state.h"

#include "core/err.h"

/* At the end of the stream: six digits and nothing behind them are a whole
 * frame, eight missing ones would be a broken one. */
static int
digits_at_end(const struct frame_decoder *d)
{
    return frame_pending(d) == 2 + FRAME_DIGITS_OLD ? FRAME_DIGITS_OLD
                                                    : FRAME_DIGITS;
}

/* Waits for more; a signal is left to the loop.  0: there is none.  No more
 * than a header is taken: where the session cannot begin, what is left unread
 * tells NNI's manager so (NNI.md, "Starting"). */
static int
read_more(struct dispatcher *d)
{
    size_t most = FRAME_HEADER_MAX - frame_pending(&d->decoder);
    struct pollfd fds[] = {{.fd = d->channel.in, .events = POLLIN},
                           {.fd = d->signal_fd, .events = POLLIN}};
    struct err err;

    for (;;) {
        if (poll(fds, 2, -1) < 0)
            continue; /* EINTR */
        if (fds[1].revents != 0)
            return 0;
        switch (channel_read_some(&d->channel, &d->decoder, most, &err)) {
        case CHANNEL_OK:
            return 1;
        case CHANNEL_WAIT:
            break;
        case CHANNEL_EOF:
        case CHANNEL_ERROR:
            return 0;
        }
    }
}

void
dispatcher_settle_digits(struct dispatcher *d)
{
    enum frame_status status;
    struct err err;

    do {
        status = frame_detect(&d->decoder, &err);
    } while (status == FRAME_PARTIAL && read_more(d));
    if (status != FRAME_READY)
        d->decoder.digits = digits_at_end(&d->decoder);
    d->digits = d->decoder.digits;
}

/* SPDX-License-Identifier: MIT */
#include "core/wake.h"

#include "core/err.h"

#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

int
wake_open(struct wake *w, struct err *err)
{
    w->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return w->fd < 0 ? err_errno(err, ERR_SYSTEM, "eventfd") : 0;
}

void
wake_close(struct wake *w)
{
    if (w->fd >= 0)
        close(w->fd);
    w->fd = -1;
}

void
wake_signal(const struct wake *w)
{
    uint64_t one = 1;

    /* EAGAIN: it is signalled already. */
    if (write(w->fd, &one, sizeof one) < 0)
        return;
}

void
wake_drain(const struct wake *w)
{
    uint64_t count;

    if (read(w->fd, &count, sizeof count) < 0)
        return;
}

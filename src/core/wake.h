/* SPDX-License-Identifier: MIT */
/* wake.h - a descriptor that makes a poll loop look up.  wake_signal() may be
 * called from any thread; the loop's thread polls wake->fd and drains it. */
#ifndef CORE_WAKE_H
#define CORE_WAKE_H

struct err;

struct wake {
    int fd; /* readable while signalled; -1 when not open */
};

int wake_open(struct wake *w, struct err *err);
void wake_close(struct wake *w);
void wake_signal(const struct wake *w);
void wake_drain(const struct wake *w);

#endif

/* SPDX-License-Identifier: MIT */
/* DESIGN.  The FIFO is open for reading and writing: so it opens without a
 * reader, a write to it never ends in SIGPIPE, and what nobody has read for
 * long (of programs that were killed while they waited) can be taken out.  It
 * is the only descriptor open for writing, so its end, however this process
 * comes to it, wakes whoever waits. */
#include "manager/holding.h"

#include "core/err.h"
#include "core/file.h"
#include "manager/metrics.h"
#include "trial/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int
open_fifo(struct holding *h, const char *folder, bool make, struct err *err)
{
    char *path = file_join(folder, TRIAL_ANSWERS);

    if (path == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    if (make && mkfifo(path, 0600) != 0)
        err_errno(err, ERR_SYSTEM, "%s: cannot make", path);
    else if ((h->fd =
                  open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)) < 0)
        err_errno(err, ERR_SYSTEM, "%s: cannot open", path);
    free(path);
    return h->fd >= 0 ? 0 : -1;
}

int
holding_make(struct holding *h, const char *folder, struct err *err)
{
    return open_fifo(h, folder, true, err);
}

int
holding_open(struct holding *h, const char *folder, struct err *err)
{
    return open_fifo(h, folder, false, err);
}

void
holding_close(struct holding *h)
{
    if (h->fd >= 0)
        close(h->fd);
    h->fd = -1;
    while (h->first != NULL) {
        struct held *next = h->first->next;

        free(h->first->payload);
        free(h->first);
        h->first = next;
    }
}

/* Of a full FIFO all is stale: whoever waits reads what comes. */
static void
empty(int fd)
{
    char stale[4096];

    while (read(fd, stale, sizeof stale) > 0)
        continue;
}

static void
write_answer(struct holding *h, int64_t end, enum report_answer answer)
{
    char line[TRIAL_ANSWER_MAX];
    int len = snprintf(line, sizeof line, "%lld %s\n", (long long)end,
                       report_answer_word(answer));

    if (h->fd < 0 || write(h->fd, line, (size_t)len) >= 0 || errno != EAGAIN)
        return;
    empty(h->fd);
    if (write(h->fd, line, (size_t)len) < 0)
        holding_close(h); /* then nobody waits any more */
}

void
holding_add(struct holding *h, const struct metric_line *metric)
{
    struct held *held = malloc(sizeof *held), **link = &h->first;

    if (held == NULL) {
        holding_answer_line(h, metric, REPORT_GO);
        return;
    }
    *held = (struct held){.sequence = metric->sequence,
                          .end = metric->end,
                          .hears = metric->hears,
                          .quiet = !metric->waits,
                          .judges = metric->judges};
    while (*link != NULL)
        link = &(*link)->next;
    *link = held;
}

void
holding_sent(struct holding *h, uint64_t sequence, uint64_t frame,
             const char *payload, size_t len)
{
    struct held *held = h->first;

    while (held != NULL && held->sequence != sequence)
        held = held->next;
    if (held == NULL)
        return;
    free(held->payload);
    held->payload = malloc(len);
    if (held->payload == NULL)
        return;
    memcpy(held->payload, payload, len);
    held->len = len;
    held->frame = frame;
}

bool
holding_hears(const struct holding *h)
{
    for (const struct held *held = h->first; held != NULL; held = held->next)
        if (held->hears)
            return true;
    return false;
}

bool
holding_judges(const struct holding *h)
{
    for (const struct held *held = h->first; held != NULL; held = held->next)
        if (held->judges)
            return true;
    return false;
}

static void
answer_one(struct holding *h, struct held **link, enum report_answer answer)
{
    struct held *held = *link;

    *link = held->next;
    if (!held->quiet)
        write_answer(h, held->end, answer);
    free(held->payload);
    free(held);
}

void
holding_answer(struct holding *h, uint64_t sequence, enum report_answer answer)
{
    struct held **link = &h->first;

    while (*link != NULL && (*link)->sequence != sequence)
        link = &(*link)->next;
    if (*link != NULL)
        answer_one(h, link, answer);
}

void
holding_answer_all(struct holding *h, enum report_answer answer)
{
    while (h->first != NULL)
        answer_one(h, &h->first, answer);
}

void
holding_answer_line(struct holding *h, const struct metric_line *metric,
                    enum report_answer answer)
{
    if (metric->waits)
        write_answer(h, metric->end, answer);
}

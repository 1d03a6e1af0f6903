/* SPDX-License-Identifier: MIT */
/* DESIGN.  The FIFO of answers is open for reading and writing: so it opens
 * without a reader, a write to it never ends in SIGPIPE, and what nobody has
 * read for long (of programs that were killed while they waited) can be taken
 * out.  It is the only descriptor open for writing, so its end, however this
 * process comes to it, wakes whoever waits. */
#include "manager/pending_reports.h"

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

/* ---- reports that wait for an answer ---- */

static int
open_part(struct unanswered *u, const char *folder, const char *name, int flags,
          struct err *err)
{
    char *path = file_join(folder, name);
    int rc = 0;

    if (path == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    u->fd = open(path, flags | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (u->fd < 0 && ((flags & O_CREAT) || errno != ENOENT))
        rc = err_errno(err, ERR_SYSTEM, "%s: cannot open", path);
    free(path);
    return rc;
}

int
unanswered_open(struct unanswered *u, const char *folder, bool by_file,
                struct err *err)
{
    return by_file
               ? open_part(u, folder, TRIAL_ANSWERED, O_WRONLY | O_APPEND, err)
               : open_part(u, folder, TRIAL_ANSWERS, O_RDWR, err);
}

int
unanswered_make(struct unanswered *u, const char *folder, bool by_file,
                struct err *err)
{
    char *path = file_join(folder, TRIAL_ANSWERS);
    int rc = 0;

    if (path == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    if (mkfifo(path, 0600) != 0)
        rc = err_errno(err, ERR_SYSTEM, "%s: cannot make", path);
    free(path);
    if (rc == 0 && by_file)
        return open_part(u, folder, TRIAL_ANSWERED,
                         O_WRONLY | O_APPEND | O_CREAT | O_EXCL, err);
    return rc == 0 ? unanswered_open(u, folder, false, err) : -1;
}

void
unanswered_remove(struct unanswered *u, const char *folder)
{
    static const char *const parts[] = {TRIAL_ANSWERS, TRIAL_ANSWERED};

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char *path = file_join(folder, parts[i]);

        if (path != NULL)
            unlink(path);
        free(path);
    }
    unanswered_close(u);
}

void
unanswered_close(struct unanswered *u)
{
    if (u->fd >= 0)
        close(u->fd);
    u->fd = -1;
    while (u->first != NULL) {
        struct unanswered_report *next = u->first->next;

        free(u->first->payload);
        free(u->first);
        u->first = next;
    }
}

/* Empties a full FIFO: all that is in it is stale, since a trial that waits
 * reads what comes. */
static void
empty_fifo(int fd)
{
    char stale[4096];

    while (read(fd, stale, sizeof stale) > 0)
        continue;
}

static void
write_answer(struct unanswered *u, int64_t end, enum report_answer answer)
{
    char line[TRIAL_ANSWER_MAX];
    int len = snprintf(line, sizeof line, "%lld %s\n", (long long)end,
                       report_answer_word(answer));

    if (u->hear != NULL) {
        u->hear(u->ctx, u->of, end, answer);
        return;
    }
    if (u->fd < 0 || write(u->fd, line, (size_t)len) >= 0 || errno != EAGAIN)
        return;
    empty_fifo(u->fd);
    if (write(u->fd, line, (size_t)len) < 0)
        unanswered_close(u); /* then nobody waits any more */
}

void
unanswered_add(struct unanswered *u, const struct metric_line *metric)
{
    struct unanswered_report *r = malloc(sizeof *r), **link = &u->first;

    if (r == NULL) {
        unanswered_answer_line(u, metric, REPORT_GO);
        return;
    }
    *r = (struct unanswered_report){.sequence = metric->sequence,
                                    .end = metric->end,
                                    .hears = metric->hears,
                                    .quiet = !metric->waits,
                                    .decides_end = metric->decides_end};
    while (*link != NULL)
        link = &(*link)->next;
    *link = r;
}

void
unanswered_sent(struct unanswered *u, uint64_t sequence, uint64_t frame,
                const char *payload, size_t len)
{
    struct unanswered_report *r = u->first;

    while (r != NULL && r->sequence != sequence)
        r = r->next;
    if (r == NULL)
        return;
    free(r->payload);
    r->payload = malloc(len);
    if (r->payload == NULL)
        return;
    memcpy(r->payload, payload, len);
    r->payload_len = len;
    r->frame = frame;
}

bool
unanswered_hears(const struct unanswered *u)
{
    for (const struct unanswered_report *r = u->first; r != NULL; r = r->next)
        if (r->hears)
            return true;
    return false;
}

bool
unanswered_judges(const struct unanswered *u)
{
    for (const struct unanswered_report *r = u->first; r != NULL; r = r->next)
        if (r->decides_end)
            return true;
    return false;
}

static void
answer_one(struct unanswered *u, struct unanswered_report **link,
           enum report_answer answer)
{
    struct unanswered_report *r = *link;

    *link = r->next;
    if (!r->quiet)
        write_answer(u, r->end, answer);
    free(r->payload);
    free(r);
}

void
unanswered_answer(struct unanswered *u, uint64_t sequence,
                  enum report_answer answer)
{
    struct unanswered_report **link = &u->first;

    while (*link != NULL && (*link)->sequence != sequence)
        link = &(*link)->next;
    if (*link != NULL)
        answer_one(u, link, answer);
}

void
unanswered_answer_all(struct unanswered *u, enum report_answer answer)
{
    while (u->first != NULL)
        answer_one(u, &u->first, answer);
}

void
unanswered_answer_line(struct unanswered *u, const struct metric_line *metric,
                       enum report_answer answer)
{
    if (metric->waits)
        write_answer(u, metric->end, answer);
}

/* ---- reports that wait for their turn in lock step ---- */

struct unsent_report {
    struct unsent_report *next;
    struct unsent_report *last; /* of the list; in its first report alone */
    struct metric_line metric;
    char json[];
};

int
unsent_add(struct unsent *u, const struct metric_line *metric, struct err *err)
{
    struct unsent_report **link = metric->final ? &u->finals : &u->reports;
    struct unsent_report *r = malloc(sizeof *r + metric->len);

    if (r == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    r->next = NULL;
    r->metric = *metric;
    memcpy(r->json, metric->json, metric->len);
    r->metric.json = r->json;
    if (*link != NULL)
        (*link)->last->next = r;
    else
        *link = r;
    (*link)->last = r;
    return 0;
}

bool
unsent_has_reports(const struct unsent *u)
{
    return u->reports != NULL;
}

static bool
take_next(struct unsent_report **first, unsent_take *take, void *ctx)
{
    struct unsent_report *r = *first;

    if (r == NULL)
        return false;
    *first = r->next;
    if (r->next != NULL)
        r->next->last = r->last;
    take(ctx, &r->metric);
    free(r);
    return true;
}

bool
unsent_next_report(struct unsent *u, unsent_take *take, void *ctx)
{
    return take_next(&u->reports, take, ctx);
}

bool
unsent_next_final(struct unsent *u, unsent_take *take, void *ctx)
{
    return take_next(&u->finals, take, ctx);
}

static void
clear_list(struct unsent_report **first)
{
    while (*first != NULL) {
        struct unsent_report *after = (*first)->next;

        free(*first);
        *first = after;
    }
}

void
unsent_clear(struct unsent *u)
{
    clear_list(&u->reports);
    clear_list(&u->finals);
}

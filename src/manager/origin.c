/* SPDX-License-Identifier: MIT */
#include "manager/origin.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/number.h"
#include "manager/live.h"
#include "manager/parameters.h"
#include "manager/resume_log.h"
#include "manager/state.h"
#include "manager/trial.h"
#include "trial/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES 256
#define BUFFER_MAX ((size_t)1 << 20)

int
origin_write(const struct trial *t, struct err *err)
{
    char *path, line[LINE_MAX_BYTES], from[32] = "-";
    bool none = t->origin.how == ORIGIN_NONE;
    int len, rc;

    if (none && t->restore == 0)
        return 0;
    if (!none)
        snprintf(from, sizeof from, "%05llu",
                 (unsigned long long)t->origin.from);
    len = snprintf(line, sizeof line, "%llu %llu %s %s\n",
                   (unsigned long long)t->step, (unsigned long long)t->restore,
                   from, none ? "-" : origin_word(t->origin.how));
    path = file_join(t->folder, TRIAL_ORIGIN);
    rc = path == NULL ? err_set(err, ERR_MEMORY, "out of memory")
                      : file_write_plain(path, line, (size_t)len, err);
    free(path);
    return rc;
}

bool
origin_load(struct trial *t)
{
    char *path = file_join(t->folder, TRIAL_ORIGIN);
    unsigned long long step = 0, restore = 0;
    struct buf text;
    bool ok;

    buf_init(&text, BUFFER_MAX);
    ok = path != NULL &&
         file_read_plain(path, LINE_MAX_BYTES, &text, NULL) == 0 &&
         sscanf(buf_text(&text), "%llu %llu", &step, &restore) == 2;
    t->step = step;
    t->restore = restore;
    buf_fini(&text);
    free(path);
    return ok;
}

/* A promotion is the same trial, which cannot run twice at a time. */
bool
origin_waits(const struct manager *m, const struct trial *t, char *why,
             size_t size)
{
    const struct trial *from;

    if (t->origin.how == ORIGIN_NONE || t->attempt > 0)
        return false;
    from = live_by_number(m, t->origin.from);
    if (from == NULL ||
        (t->origin.how == ORIGIN_CLONED && !trial_stops_well(from)))
        return false;
    snprintf(why, size,
             "trial %s, from whose checkpoint it goes on, has not "
             "ended",
             from->id);
    return true;
}

void
origin_taken(struct manager *m, const struct trial *t)
{
    if (t->origin.how != ORIGIN_NONE)
        checkpoints_pin(&m->checkpoints, t->origin.from);
}

/* Its program may know better: PBT's folders are not ours. */
static void
tell_anew(struct manager *m, const struct trial *t)
{
    if (m->anew_told)
        return;
    m->anew_told = true;
    progress_warn(&m->progress,
                  "tunepipe: warning: trial %s goes on from trial %05llu, "
                  "which has saved no checkpoint (tunepipe trial checkpoint): "
                  "it begins at its first step, as others like it will",
                  t->id, (unsigned long long)t->origin.from);
}

void
origin_settled(struct manager *m, struct trial *t, bool started)
{
    if (t->origin.how == ORIGIN_NONE || t->origin.settled)
        return;
    t->origin.settled = true;
    if (started && t->restore == 0)
        tell_anew(m, t);
    checkpoints_unpin(&m->checkpoints, t->origin.from,
                      started && t->origin.how == ORIGIN_PROMOTED);
}

void
origin_hear_end(void *ctx, const struct attempt_end *end)
{
    if (end->how == ATTEMPT_JUDGED)
        origin_settled(ctx, end->trial, false);
}

static void
release(struct manager *m, uint64_t number)
{
    checkpoints_release(&m->checkpoints, number,
                        live_by_number(m, number) == NULL);
}

/* What was promoted needs its own no more. */
static void
release_promoted(struct manager *m, const struct logged_trial *p)
{
    struct suggestion s;

    if (p->record == NULL || !p->started ||
        suggestion_read(p->record, strlen(p->record), &s, NULL) != 0)
        return;
    if (s.origin.how == ORIGIN_PROMOTED)
        release(m, s.origin.from);
    suggestion_fini(&s);
}

void
origin_restore(struct manager *m, const struct resume_log *log)
{
    if (m->checkpoints.n == 0)
        return;
    for (const struct logged_trial *p = log->first; p != NULL; p = p->next) {
        uint64_t number;

        release_promoted(m, p);
        if (p->released && number_parse_u64(p->id, strlen(p->id), &number))
            release(m, number);
    }
}

void
origin_repeat(struct manager *m)
{
    struct resume_log log = {0};

    if (m->checkpoints.n == 0)
        return;
    m->checkpoints.deferred = true;
    if (resume_log_load(&log, m->folder.path, NULL) == 0)
        origin_restore(m, &log);
    resume_log_fini(&log);
}

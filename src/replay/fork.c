/* SPDX-License-Identifier: MIT */
#include "replay/fork.h"

#include "core/err.h"
#include "core/file.h"
#include "frame.h"
#include "log/log.h"
#include "replay/fork_state.h"
#include "replay/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* DESIGN
 *
 * One walk copies what had been recorded before the first input behind `at`.
 * Records of a stop, and of going on behind it, are held back until an input
 * that is kept follows them.  Then the new log is replayed: it must give the
 * same answers. */

#define HELD_MAX ((size_t)1 << 30)

/* ---- the new file ---- */

int
fork_write(struct fork *f, enum record_kind kind, const struct record *r,
           struct err *err)
{
    record_encode(&f->out, kind, r->number, r->time_us, r->payload, r->len);
    if (f->out.len < FORK_CHUNK)
        return 0;
    return fork_flush(f, err);
}

int
fork_flush(struct fork *f, struct err *err)
{
    if (buf_check(&f->out, f->path, err) != 0 ||
        file_write_all(f->fd, f->out.data, f->out.len, err) != 0)
        return err_place(err, "%s", f->path);
    buf_clear(&f->out);
    return 0;
}

/* All so far is on stable storage, and says so. */
static int
seal(struct fork *f, struct err *err)
{
    struct record mark = {.time_us = f->time_us};

    if (fork_flush(f, err) != 0)
        return -1;
    if (fsync(f->fd) != 0)
        return err_errno(err, ERR_LOG, "%s: cannot sync", f->path);
    if (fork_write(f, RECORD_SYNC, &mark, err) != 0 || fork_flush(f, err) != 0)
        return -1;
    return fsync(f->fd) == 0
               ? 0
               : err_errno(err, ERR_LOG, "%s: cannot sync", f->path);
}

static int
make_file(struct fork *f, struct err *err)
{
    const char *folder = f->setup->folder;
    struct stat st;

    f->made_folder = stat(folder, &st) != 0;
    if (file_make_folder(folder, err) != 0)
        return -1;
    f->fd = open(f->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (f->fd < 0 && errno == EEXIST)
        return err_set(err, ERR_LOG,
                       "%s: an experiment is recorded there already, expected "
                       "a folder without a log",
                       f->path);
    if (f->fd < 0)
        return err_errno(err, ERR_LOG, "%s: cannot create", f->path);
    return 0;
}

static void
remove_file(struct fork *f)
{
    if (f->fd >= 0)
        unlink(f->path);
    if (f->made_folder)
        rmdir(f->setup->folder);
}

/* ---- what is copied ---- */

static void
note_end(struct fork *f, const struct record *r)
{
    struct frame frame = {.payload = r->payload + 2, .len = r->len - 2};
    struct map *ended = &f->report->ended;
    struct command *cmd;

    if (r->len < 2 || memcmp(r->payload, "EN", 2) != 0)
        return;
    memcpy(frame.code, r->payload, 2);
    cmd = command_decode(&frame, r->number, NULL);
    if (cmd != NULL &&
        map_put(ended, cmd->end.job, strlen(cmd->end.job), f->report) != 0)
        f->failed = true;
    command_free(cmd);
}

/* Which acknowledgements had been given is asked again by fork_judged(). */
static int
note_said(struct fork *f, const struct record *r)
{
    if (r->len > 2 && memcmp(r->payload, "AK", 2) == 0 &&
        map_put(&f->acknowledged, &r->number, sizeof r->number, f) != 0)
        f->failed = true;
    return 0;
}

/* Letters of PROTOCOL.md's S records, without those of the assessor. */
static int
copy_skip(struct fork *f, const struct record *r, struct err *err)
{
    const char *space = memchr(r->payload, ' ', r->len);
    size_t word = space == NULL ? r->len : (size_t)(space - r->payload);
    struct record kept = *r;
    struct buf text;
    int rc = 0;

    if (!f->judged_anew)
        return fork_write(f, RECORD_SKIPPED, r, err);
    buf_init(&text, HELD_MAX);
    for (size_t i = 0; i < word; i++) {
        char c = r->payload[i];
        bool barred = c == 'x' && i + 1 < word;

        if (barred ? r->payload[i + 1] == 'a' : c == 'a' || c == 'A')
            i += barred;
        else
            buf_add_char(&text, c);
    }
    if (text.len > 0) {
        buf_add(&text, r->payload + word, r->len - word);
        kept.payload = text.data;
        kept.len = text.len;
        rc = buf_check(&text, f->path, err) != 0
                 ? -1
                 : fork_write(f, RECORD_SKIPPED, &kept, err);
    }
    buf_fini(&text);
    return rc;
}

static int
copy(struct fork *f, const struct record *r, struct err *err)
{
    switch (r->kind) {
    case RECORD_IN:
        note_end(f, r);
        f->report->inputs++;
        return fork_write(f, r->kind, r, err);
    case RECORD_TUNER_FRAME:
    case RECORD_TUNER_EVENT:
        f->report->inputs++;
        return fork_write(f, r->kind, r, err);
    case RECORD_ASSESSOR_FRAME:
    case RECORD_ASSESSOR_EVENT:
        f->report->inputs += !f->judged_anew;
        return f->judged_anew ? 0 : fork_write(f, r->kind, r, err);
    case RECORD_ASSESSOR:
        if (f->judged_anew)
            return note_said(f, r);
        f->report->answers++;
        return fork_write(f, r->kind, r, err);
    case RECORD_TUNER:
    case RECORD_ROUTER:
        f->report->answers++;
        return fork_write(f, r->kind, r, err);
    case RECORD_SKIPPED:
        return copy_skip(f, r, err);
    case RECORD_END:
    case RECORD_RESUMED:
        return fork_write(f, r->kind, r, err);
    case RECORD_HEAD:
    case RECORD_SYNC:
    case RECORD_SEGMENT:
        break;
    }
    return 0;
}

/* ---- what a stop has left behind is held back ---- */

struct held {
    struct held *next;
    struct record record; /* its payload stays in the old log's map */
};

static int
hold(struct fork *f, const struct record *r, struct err *err)
{
    struct held *h = malloc(sizeof *h);

    if (h == NULL)
        return err_set(err, ERR_MEMORY, "fork: out of memory");
    *h = (struct held){NULL, *r};
    *(f->held_last != NULL ? &f->held_last->next : &f->held) = h;
    f->held_last = h;
    return 0;
}

static bool
bars(const struct record *r)
{
    const char *space = memchr(r->payload, ' ', r->len);

    return r->kind == RECORD_SKIPPED && space != NULL &&
           memchr(r->payload, 'x', (size_t)(space - r->payload)) != NULL;
}

/* All of it, or, where it never happened, its answers alone, and what must not
 * be tried again. */
static int
let_go(struct fork *f, bool happened, struct err *err)
{
    struct held *next;
    int rc = 0;

    for (struct held *h = f->held; h != NULL; h = next) {
        bool answer =
            h->record.kind == RECORD_TUNER || h->record.kind == RECORD_ASSESSOR;

        next = h->next;
        if (rc == 0 && (happened || answer || bars(&h->record)))
            rc = copy(f, &h->record, err);
        free(h);
    }
    f->held = f->held_last = NULL;
    return rc;
}

static int
take(struct fork *f, const struct record *r, struct err *err)
{
    bool input = record_is_input(r->kind);

    if (f->full) /* behind the last input: nothing of it has happened */
        return bars(r) && r->number <= f->setup->at ? copy(f, r, err) : 0;
    if (input && r->number > f->setup->at) {
        f->full = true;
        return let_go(f, false, err);
    }
    f->time_us = r->time_us;
    if (input) {
        f->last = r->number;
        if (let_go(f, true, err) != 0)
            return -1;
    } else if (f->held != NULL || r->kind == RECORD_SKIPPED ||
               r->kind == RECORD_END || r->kind == RECORD_RESUMED) {
        return hold(f, r, err);
    }
    return copy(f, r, err);
}

static int
walk(struct fork *f, struct err *err)
{
    enum log_status status;
    struct record r;

    while ((status = log_next(f->file, &r, err)) == LOG_RECORD)
        if (take(f, &r, err) != 0)
            return -1;
    if (status == LOG_DAMAGED || let_go(f, false, err) != 0)
        return -1;
    if (f->last < f->setup->at && !f->full)
        return err_set(err, ERR_USAGE,
                       "%s: ends at command %" PRIu64
                       ", expected at most that, "
                       "not %" PRIu64,
                       f->setup->path, f->last, f->setup->at);
    return f->failed ? err_set(err, ERR_MEMORY, "fork: out of memory") : 0;
}

/* ---- the whole ---- */

static int
begin(struct fork *f, struct err *err)
{
    struct record r;

    f->path = log_path(f->setup->folder);
    if (f->path == NULL)
        return err_set(err, ERR_MEMORY, "fork: out of memory");
    f->file = log_open(f->setup->path, LOG_WHOLE | LOG_KEEP, err);
    if (f->file == NULL || log_read_head(f->file, &r, err) != 0 ||
        fork_head(f, &r, err) != 0 || make_file(f, err) != 0)
        return -1;
    record_write_version(&f->out);
    r.payload = f->head.data;
    r.len = f->head.len;
    return fork_write(f, RECORD_HEAD, &r, err);
}

static int
verify(struct fork *f, struct err *err)
{
    struct replay_setup setup = {
        .path = f->path, .paths = f->setup->paths, .log = f->setup->log};
    struct replay_report report;
    struct err was;

    if (replay_run(&setup, &report, err) == 0) {
        f->report->unsent = report.unsent;
        return 0;
    }
    was = *err;
    if (was.code == ERR_INPUT && f->changed)
        err_set(err, ERR_USAGE,
                "with these changes the answers up to there would have been "
                "others, expected changes that matter behind them only: %s",
                was.text);
    return -1;
}

static void
end(struct fork *f)
{
    struct held *next;

    for (struct held *h = f->held; h != NULL; h = next) {
        next = h->next;
        free(h);
    }
    if (f->fd >= 0)
        close(f->fd);
    map_fini(&f->acknowledged);
    log_close(f->file);
    buf_fini(&f->head);
    buf_fini(&f->out);
    free(f->path);
}

int
fork_run(const struct fork_setup *setup, struct fork_report *report,
         struct err *err)
{
    struct fork f = {.setup = setup, .report = report, .fd = -1};
    int rc = -1;

    *report = (struct fork_report){0};
    buf_init(&f.out, HELD_MAX);
    buf_init(&f.head, HELD_MAX);
    if (begin(&f, err) == 0 && walk(&f, err) == 0 &&
        (!f.judged_anew || fork_judged(&f, err) == 0) && seal(&f, err) == 0)
        rc = verify(&f, err);
    if (rc != 0)
        remove_file(&f);
    end(&f);
    return rc;
}

void
fork_report_fini(struct fork_report *report)
{
    map_fini(&report->ended);
}

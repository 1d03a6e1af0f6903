/* SPDX-License-Identifier: MIT */
#include "replay/fork.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/map.h"
#include "dispatcher/proxy_setup.h"
#include "dispatcher/session.h"
#include "frame.h"
#include "log/log.h"
#include "log/record.h"
#include "replay/logtrial.h"
#include "replay/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct fork {
    const struct fork_setup *setup;
    struct fork_report *report;
    struct log_reader *file; /* the old log */
    char *path;              /* path of the new log ... */
    int fd;                  /* ... its descriptor; -1: not made yet */
    struct buf out, head;
    struct held *held, *held_last;
    /* Arrival numbers of commands whose AK was on record. */
    struct map acknowledged;
    uint64_t last;   /* the last input that was kept */
    int64_t time_us; /* time of the last record that was kept */
    bool changed;    /* the new head differs from the old one */
    /* By another assessor than the recorded one, or by none. */
    bool judged_anew;
    bool full; /* the first input behind the last was seen */
    bool made_folder;
    bool failed; /* out of memory */
};

#define FORK_CHUNK ((size_t)1 << 20) /* bytes written at once */

static int fork_flush(struct fork *f, struct err *err);

/* ---- the head ---- */

static int
change_policy(struct policy *p, const struct fork_changes *c, struct err *err)
{
    if (c->early_stopped != NULL &&
        policy_set_stopped(p, c->early_stopped, err) != 0)
        return err_place(err, "--early-stopped");
    if (c->on_error != NULL && policy_set_on_error(p, c->on_error, err) != 0)
        return err_place(err, "--on-error");
    if (c->ask_error != NULL && policy_set_ask_error(p, c->ask_error, err) != 0)
        return err_place(err, "--ask-error");
    return 0;
}

/* Applies the changes of plugins; arguments alone change those of the plugin
 * that is there. */
static int
change_plugins(struct session_setup *s, const struct fork_changes *c,
               struct err *err)
{
    if (c->tuner != NULL) {
        s->tuner = c->tuner;
        s->tuner_logged = false;
    }
    if (c->tuner != NULL || c->tuner_args.node != NULL)
        s->tuner_args = c->tuner_args;
    if (c->assessor != NULL) {
        s->assessor = c->assessor;
        s->assessor_logged = false;
    }
    if (c->no_assessor)
        s->assessor = NULL;
    if (s->assessor == NULL && c->assessor_args.node != NULL)
        return err_set(err, ERR_USAGE,
                       "--assessor-args: expected --assessor, too: the "
                       "experiment has none");
    if (c->assessor != NULL || c->assessor_args.node != NULL)
        s->assessor_args = c->assessor_args;
    if ((c->assessor != NULL || c->assessor_args.node != NULL) &&
        proxy_is_named(s->assessor))
        return err_set(err, ERR_USAGE,
                       "--assessor %s: expected a plugin: what a program would "
                       "have said before is not known",
                       s->assessor);
    if (c->has_seed)
        s->seed = c->seed;
    return 0;
}

/* Tells a new plugin the direction of the experiment.  A log from before there
 * was a direction tells it by `maximize` alone. */
static int
direct_changed(struct session_setup *s, const struct fork_changes *c,
               struct json *made[2], struct err *err)
{
    const char *direction = s->policy.maximize ? "maximize" : "minimize";
    int rc = 0;

    if (jval_type(s->objectives) != JSON_NULL)
        return 0; /* session_new() tells what follows from them */
    if (c->tuner != NULL || c->tuner_args.node != NULL)
        rc = session_direct(s->paths, PLUGIN_TUNER, s->tuner, s->tuner_logged,
                            direction, &s->tuner_args, &made[0], err);
    if (rc == 0 && (c->assessor != NULL || c->assessor_args.node != NULL))
        rc = session_direct(s->paths, PLUGIN_ASSESSOR, s->assessor,
                            s->assessor_logged, direction, &s->assessor_args,
                            &made[1], err);
    return rc;
}

static void
collect_nothing(void *ctx, const struct emission *e)
{
    (void)ctx;
    (void)e;
}

static int
write_changed(struct fork *f, struct json *old, struct err *err)
{
    struct session_setup setup = {.paths = f->setup->paths};
    const struct fork_changes *c = f->setup->changes;
    struct emitter emitter = {collect_nothing, NULL};
    struct json *made[2] = {NULL, NULL};
    struct session *session = NULL;
    int rc = -1;

    if (session_read_head(json_root(old), &setup, err) != 0)
        return err_place(err, "%s", f->setup->path);
    if (change_policy(&setup.policy, c, err) == 0 &&
        change_plugins(&setup, c, err) == 0 &&
        direct_changed(&setup, c, made, err) == 0)
        session = session_new(&setup, emitter, f->setup->log, err);
    if (session != NULL) {
        session_write_head(session, &setup, &f->head);
        f->report->seed = setup.seed;
        rc = buf_check(&f->head, "the head record", err);
    }
    session_free(session);
    json_free(made[0]);
    json_free(made[1]);
    return rc;
}

/* Makes f->head from the old log's first record. */
static int
fork_head(struct fork *f, const struct record *old, struct err *err)
{
    const struct fork_changes *c = f->setup->changes;
    struct json *doc;
    struct jval v;
    int rc = 0;

    f->judged_anew =
        c->no_assessor || c->assessor != NULL || c->assessor_args.node != NULL;
    f->changed = f->judged_anew || c->tuner != NULL ||
                 c->tuner_args.node != NULL || c->has_seed ||
                 c->early_stopped != NULL || c->on_error != NULL ||
                 c->ask_error != NULL;
    doc = json_parse(old->payload, old->len, JSON_STRICT, err);
    if (doc == NULL)
        return err_place(err, "%s: head record", f->setup->path);
    if (jval_get(json_root(doc), "seed", &v))
        (void)jval_uint(v, &f->report->seed);
    if (f->changed)
        rc = write_changed(f, doc, err);
    else
        buf_add(&f->head, old->payload, old->len);
    json_free(doc);
    return rc;
}

/* ---- another assessor ---- */

struct said {
    struct fork *f;
    struct buf records; /* records of the cause in hand, encoded */
    uint64_t cause;
    bool open; /* that cause's answers have not been sent */
    int rc;
    struct err err;
};

/* Ends a cause: its answers are on record together, or follow together. */
static void
close_cause(struct said *s)
{
    if (!s->open && s->records.len > 0 && s->rc == 0) {
        buf_add(&s->f->out, s->records.data, s->records.len);
        if (s->f->out.len >= FORK_CHUNK)
            s->rc = fork_flush(s->f, &s->err);
    }
    buf_clear(&s->records);
    s->open = false;
}

static void
take_said(void *ctx, const struct emission *e)
{
    struct said *s = ctx;
    const char *code = command_info(e->code)->code;

    if (e->sender != SENDER_ASSESSOR)
        return;
    if (e->cause != s->cause)
        close_cause(s);
    s->cause = e->cause;
    if (e->code == CMD_KILL_TRIAL)
        s->open = s->open ||
                  map_get(&s->f->report->ended, e->job, strlen(e->job)) == NULL;
    else
        s->open = s->open || map_get(&s->f->acknowledged, &e->cause,
                                     sizeof e->cause) == NULL;
    record_encode2(&s->records, RECORD_ASSESSOR, e->cause, s->f->time_us, code,
                   2, e->payload, e->len);
    s->f->report->answers += !s->open;
}

/* Appends what the new assessor answers to the copied inputs, but for what will
 * be sent when the session goes on. */
static int
fork_judged(struct fork *f, struct err *err)
{
    struct said said = {.f = f};
    struct replay_setup setup = {.path = f->path,
                                 .paths = f->setup->paths,
                                 .log = f->setup->log,
                                 .derived = take_said,
                                 .ctx = &said};
    struct replay_report report;
    int rc;

    if (fork_flush(f, err) != 0)
        return -1;
    buf_init(&said.records, SIZE_MAX / 2);
    rc = replay_run(&setup, &report, err);
    close_cause(&said);
    if (rc == 0 && said.rc != 0) {
        *err = said.err;
        rc = -1;
    } else if (rc != 0 && err->code == ERR_INPUT) {
        struct err was = *err;

        err_set(err, ERR_USAGE,
                "with these changes the answers up to there would have been "
                "others, expected changes that matter behind them only: %s",
                was.text);
    }
    buf_fini(&said.records);
    return rc;
}

/* DESIGN
 *
 * One walk copies what had been recorded before the first input behind `at`.
 * Records of a stop, and of going on behind it, are held back until an input
 * that is kept follows them.  Then the new log is replayed: it must give the
 * same answers. */

#define HELD_MAX ((size_t)1 << 30)

/* ---- the new file ---- */

static int
fork_write(struct fork *f, enum record_kind kind, const struct record *r,
           struct err *err)
{
    record_encode(&f->out, kind, r->number, r->time_us, r->payload, r->len);
    if (f->out.len < FORK_CHUNK)
        return 0;
    return fork_flush(f, err);
}

static int
fork_flush(struct fork *f, struct err *err)
{
    if (buf_check(&f->out, f->path, err) != 0 ||
        file_write_all(f->fd, f->out.data, f->out.len, err) != 0)
        return err_place(err, "%s", f->path);
    buf_clear(&f->out);
    return 0;
}

/* Syncs all records so far, and adds a sync mark. */
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

/* Notes that an acknowledgement was sent, as fork_judged() needs to know. */
static int
note_said(struct fork *f, const struct record *r)
{
    if (r->len > 2 && memcmp(r->payload, "AK", 2) == 0 &&
        map_put(&f->acknowledged, &r->number, sizeof r->number, f) != 0)
        f->failed = true;
    return 0;
}

/* Copies a skipped record without the letters of the assessor's half. */
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
    struct record record; /* its payload lies in the old log's map */
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

/* Writes the records that were held back; where they never happened, only the
 * answers among them, and what must not be tried again. */
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

    if (f->full) /* behind the last input: nothing held back has happened */
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

/* ---- where to fork ---- */

int
fork_find_end(const char *path, const char *word, uint64_t *at, struct err *err)
{
    struct log_reader *file = log_open(path, LOG_WHOLE, err);
    struct logtrial trial = {0};
    struct record r;
    int rc = file == NULL ? -1 : logtrial_expect(&trial, file, word, err);

    *at = 0;
    while (rc == 0 && *at == 0) {
        enum log_status status = log_next(file, &r, err);

        if (status == LOG_DAMAGED)
            rc = -1;
        else if (status != LOG_RECORD)
            rc = err_set(err, ERR_USAGE,
                         "%s: trial '%.60s' has not ended in this log, "
                         "expected one that has, or --at N",
                         path, word);
        else if (r.kind == RECORD_IN && r.len >= 2 &&
                 memcmp(r.payload, "EN", 2) == 0 && logtrial_has(&trial, &r))
            *at = r.number;
    }
    logtrial_fini(&trial);
    log_close(file);
    return rc;
}

/* ---- the whole ---- */

static int
begin(struct fork *f, struct err *err)
{
    struct record r;

    f->path = log_path(f->setup->folder, err);
    if (f->path == NULL)
        return -1;
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

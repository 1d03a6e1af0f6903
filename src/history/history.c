/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * A record is taken apart once and changes the state of the trial that it
 * names; what came of it is queued as one or two facts (an attempt that begins
 * or a trial that ends may end an attempt first), which history_next() hands
 * out.  A trial that has ended is freed with the call behind its last fact.
 *
 * A gap is what lies between the last record of a session and the R of the one
 * that goes on.  Attempts that are open then are marked with where it began,
 * and their folders are asked: a trial whose manager is dead writes its exit
 * file all the same. */
#include "history/history.h"

#include "command.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/idset.h"
#include "core/map.h"
#include "core/number.h"
#include "core/pack.h"
#include "log/log.h"
#include "fields.h"
#include "frame.h"
#include "history/folder.h"
#include "log/record.h"
#include "objectives/objectives.h"
#include "pack/packs.h"
#include "scan.h"
#include "trial/files.h"
#include "trial/outcome.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CODE_SIZE 2
#define ID_MAX ((size_t)1 << 20)
#define OVER_MAX 100000000 /* numbers beyond it are kept as names */

/* How far to trust what says which parameters a trial runs. */
enum rank { RANK_NONE, RANK_HINT, RANK_NOTE, RANK_METRIC };

struct trial {
    struct history_trial seen; /* the part that readers are shown */
    enum rank rank;            /* of what seen.suggested.id is known from */
    bool open;                 /* the newest attempt has not ended */
    bool recorded;             /* open: results.jsonl has been read of it, */
    int64_t lasted_us;         /* and says that its run took so long */
    /* Open: where the last gap within the attempt began; else 0. */
    int64_t gap_us;
    int64_t resumed_us; /* where the last gap within the trial ended; 0: there
                           is none */
    /* Open: when the attempt ended, as its folder says; else 0. */
    int64_t known_us;
    int64_t heard_us;   /* its last metric behind all gaps; 0: there is none */
    int64_t late_us;    /* open: the attempt may have been started before this
                           resumption and noted behind it; else 0 */
    uint64_t reporting; /* the attempt that its newest metric is from */
    uint64_t next[2]; /* the next sequence: of intermediate, of final metrics */
};

struct history_reader {
    /* Of the experiment; NULL: there is a log, or records, alone. */
    char *folder;
    struct packs *packs;           /* of its trials */
    struct objectives *objectives; /* by the log's head; NULL: results are one
                                      number */
    struct log_reader *log;        /* NULL: there is none (yet) */
    struct map suggested;  /* parameter_id -> struct history_suggestion */
    struct map trials;     /* trial_job_id -> struct trial */
    struct idset over;     /* trials that have ended, by their numbers */
    struct map over_named; /* ended trials without a number, by their names */
    unsigned left_out;     /* kinds of facts that are not wanted, a bit each */
    bool plain;            /* no tree is wanted: history_read_plainly() */
    history_skip *skip;    /* records that are left out; NULL: none are */
    void *skip_ctx;
    /* Where the last gap began and ended; 0: there is none. */
    int64_t gone_us, resumed_us;
    off_t results_at; /* where to read on in results.jsonl */
    struct history_position at;
    struct record record;
    struct history_fact facts[2];
    size_t n_facts, n_given;
    /* what the last facts lent */
    struct json *doc;
    struct buf texts; /* of a note that was read plainly */
    struct command *cmd;
    struct trial *ended;
    struct history_suggestion added;
    size_t n_added; /* how many parameters of the AD in `doc` were handed out */
    size_t settled; /* where the walk of history_settle() is */
};

static int
no_memory(struct err *err)
{
    return err_set(err, ERR_MEMORY, "out of memory");
}

/* ---- suggestions ---- */

static void
suggestion_clear(struct history_suggestion *s)
{
    free(s->id);
    free(s->parameters);
    free(s->from);
    *s = (struct history_suggestion){0};
}

static void
suggestion_drop(struct history_suggestion *s)
{
    if (s != NULL)
        suggestion_clear(s);
    free(s);
}

/* Fills a suggestion from an object.  1: the object is none. */
static int
suggestion_fill(struct history_suggestion *s, struct jval object)
{
    struct jval id, v;
    const char *from = NULL;
    enum json_type type;
    bool given;

    *s = (struct history_suggestion){0};
    if (!jval_get(object, "parameter_id", &id))
        return 1;
    type = jval_type(id);
    if (type != JSON_INT && type != JSON_UINT && type != JSON_STRING)
        return 1;
    s->id = jval_copy_text(id);
    given = jval_get(object, "parameters", &v);
    if (given)
        s->parameters = jval_copy_text(v);
    if (jval_get(object, "resume_from", &v) && jval_string(v, &from, NULL))
        s->from = strdup(from);
    s->cloned = strcmp(jval_text_of(object, "resume_how"), "cloned") == 0;
    if (s->id != NULL && (!given || s->parameters != NULL) &&
        (from == NULL || s->from != NULL))
        return 0;
    suggestion_clear(s);
    return -1;
}

/* ---- trials ---- */

static void
trial_free(struct trial *t)
{
    if (t == NULL)
        return;
    suggestion_clear(&t->seen.suggested);
    free(t->seen.job);
    free(t);
}

static struct trial *
find(const struct history_reader *h, const char *job)
{
    return map_get(&h->trials, job, strlen(job));
}

static struct trial *
add(struct history_reader *h, const char *job)
{
    struct trial *t = calloc(1, sizeof *t);

    if (t != NULL && (t->seen.job = strdup(job)) != NULL &&
        map_put(&h->trials, job, strlen(job), t) == 0)
        return t;
    trial_free(t);
    return NULL;
}

/* The trial's number; false: it has none, as it is not our manager's. */
static bool
number_of(const char *job, uint64_t *out)
{
    size_t len = strlen(job);

    /* as "%05" writes it */
    return len >= 5 && (len == 5 || job[0] != '0') &&
           number_parse_u64(job, len, out) && *out <= OVER_MAX;
}

static bool
is_over(const struct history_reader *h, const char *job)
{
    uint64_t number;

    return number_of(job, &number)
               ? idset_has(&h->over, number)
               : map_get(&h->over_named, job, strlen(job)) != NULL;
}

static int
remember_end(struct history_reader *h, const char *job)
{
    uint64_t number;

    return number_of(job, &number)
               ? idset_add(&h->over, number)
               : map_put(&h->over_named, job, strlen(job), h);
}

/* Notes which parameters the trial runs, where `rank` is worth more than what
 * is known; takes `id`. */
static void
name(struct history_reader *h, struct trial *t, char *id, enum rank rank)
{
    struct history_suggestion *mine = &t->seen.suggested, *s;

    if (id == NULL || rank < t->rank ||
        (rank == t->rank && rank != RANK_NOTE)) {
        free(id);
        return;
    }
    t->rank = rank;
    s = map_remove(&h->suggested, id, strlen(id));
    if (s != NULL) {
        suggestion_clear(mine);
        *mine = *s;
        free(s);
        free(id);
    } else if (mine->id != NULL && strcmp(mine->id, id) == 0) {
        free(id);
    } else {
        suggestion_clear(mine);
        mine->id = id;
    }
}

/* A parameter_id as JSON text; *out is NULL when there is none. */
static int
id_text(const struct parameter_id *id, char **out)
{
    char number[24];
    struct buf b;

    *out = NULL;
    if (id->kind == PARAMETER_NONE)
        return 0;
    if (id->kind == PARAMETER_NUMBER) {
        *number_write_u64(number, id->number) = '\0';
        *out = strdup(number);
    } else {
        buf_init(&b, ID_MAX);
        json_write_string(&b, id->label, strlen(id->label));
        *out = b.failed ? NULL : strdup(buf_text(&b));
        buf_fini(&b);
    }
    return *out == NULL ? -1 : 0;
}

/* ---- when an attempt ended ---- */

static int64_t
later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* What the wrapper of the attempt's run wrote, or that of a preparation without
 * a run; OUTCOME_LOST where nothing was written. */
static struct outcome
outcome_of(const struct history_reader *h, const struct trial *t)
{
    const struct history_attempt *a = &t->seen.attempt;
    const char *part = a->started_us == 0 ? "/" TRIAL_PREPARE : "";
    struct outcome o = {.kind = OUTCOME_LOST};
    char *path, more[32] = "";

    if (h->folder == NULL || t->seen.job[0] == '.' ||
        strchr(t->seen.job, '/') != NULL)
        return o;
    if (a->number > 0)
        snprintf(more, sizeof more, ".%" PRIu64, a->number);
    if (asprintf(&path, "%s/" FOLDER_TRIALS "/%s%s%s", h->folder, t->seen.job,
                 more, part) < 0)
        return o;
    outcome_read_of(h->packs, path, &o, NULL);
    free(path);
    return o;
}

static int64_t
end_by_folder(const struct history_reader *h, const struct trial *t)
{
    return outcome_of(h, t).ended_ns / 1000;
}

/* The trial that a line of results.jsonl is about; NULL: none that lives. */
static struct trial *
trial_of(const struct history_reader *h, const char *line, size_t len)
{
    struct scan s = {line, len, 0, JSON_STRICT, NULL};
    struct scan_token name, value;

    scan_next(&s); /* the object's brace */
    do {
        name = scan_next(&s);
        scan_next(&s); /* its colon */
        value = scan_next(&s);
        if (name.type == SCAN_STRING && name.len == strlen("trial") &&
            memcmp(name.text, "trial", name.len) == 0)
            return value.type != SCAN_STRING
                       ? NULL
                       : map_get(&h->trials, value.text, value.len);
    } while (scan_skip_from(&s, value) && scan_next(&s).type == SCAN_COMMA);
    return NULL;
}

static void
take_result(struct trial *t, const char *line, size_t len)
{
    struct json *doc = json_parse(line, len, JSON_STRICT, NULL);
    uint64_t attempt = t->seen.attempt.number;
    double seconds;
    struct jval v;

    if (doc == NULL)
        return;
    if (jval_get(json_root(doc), "attempt", &v))
        jval_uint(v, &attempt);
    seconds = jval_number_of(json_root(doc), "duration_s");
    if (attempt == t->seen.attempt.number && seconds >= 0 && seconds < 1e9) {
        t->recorded = true;
        t->lasted_us = (int64_t)(seconds * 1e6);
    }
    json_free(doc);
}

/* Reads on in results.jsonl, for all attempts that are open. */
static void
read_results(struct history_reader *h)
{
    char *path =
        h->folder == NULL ? NULL : file_join(h->folder, FOLDER_RESULTS);
    FILE *f = path == NULL ? NULL : fopen(path, "re");
    char *line = NULL;
    size_t cap = 0;
    ssize_t len;

    if (f != NULL && fseeko(f, h->results_at, SEEK_SET) == 0)
        while ((len = getline(&line, &cap, f)) > 0 && line[len - 1] == '\n') {
            struct trial *t = trial_of(h, line, (size_t)len);

            h->results_at += len;
            if (t != NULL && t->open && !t->recorded)
                take_result(t, line, (size_t)len);
        }
    if (f != NULL)
        fclose(f);
    free(line);
    free(path);
}

/* When the trial's run ended, as its line in results.jsonl says, which counts
 * the duration; a run of no duration was not seen behind the gap.  0: there is
 * no line. */
static int64_t
end_by_result(struct history_reader *h, const struct trial *t)
{
    const struct history_attempt *a = &t->seen.attempt;

    if (a->started_us != 0 && !t->recorded)
        read_results(h);
    if (a->started_us == 0 || !t->recorded)
        return 0;
    return t->lasted_us > 0 ? a->started_us + t->lasted_us : t->gap_us;
}

/* When the open attempt ended.  `noted_us`: the time of the record that says
 * so; 0: there is none. */
static int64_t
end_of(struct history_reader *h, const struct trial *t, int64_t noted_us)
{
    int64_t end = t->known_us, now_us = h->record.time_us;

    if (t->gap_us == 0)
        return noted_us != 0 ? noted_us
                             : later(t->heard_us, t->seen.attempt.begun_us);
    if (end == 0)
        end = end_by_folder(h, t);
    if (end == 0)
        end = end_by_result(h, t);
    if (end == 0)
        end = later(t->gap_us, t->heard_us);
    if (end > now_us)
        end = now_us;
    return later(end, t->seen.attempt.begun_us);
}

/* Marks the open attempts: no manager was there from at->time_us to
 * resumed_us. */
static void
cross_gap(struct history_reader *h, int64_t resumed_us)
{
    struct history_suggestion *s;
    struct trial *t;

    h->gone_us = h->at.time_us;
    h->resumed_us = resumed_us;
    h->results_at = 0; /* they may be of attempts that were not open then */
    for (size_t at = 0; (s = map_next(&h->suggested, &at)) != NULL;)
        s->earlier = true;
    for (size_t at = 0; (t = map_next(&h->trials, &at)) != NULL;) {
        t->resumed_us = resumed_us;
        if (!t->open || t->known_us != 0)
            continue;
        t->gap_us = h->gone_us;
        t->heard_us = 0;
        t->known_us = end_by_folder(h, t);
        if (t->known_us > resumed_us) /* a manager adopted the trial */
            t->known_us = 0;
    }
}

/* Whether a dead manager can have started what is noted as started now: the
 * trial, or its parameters, are from before the resumption, or the parameters
 * are, as far as is known, not the tuner's. */
static bool
may_be_late(const struct history_reader *h, const struct trial *t)
{
    const struct history_suggestion *s = &t->seen.suggested;

    if (h->resumed_us == 0 || (h->left_out & 1u << HISTORY_SUGGESTED) != 0)
        return false;
    return t->resumed_us == h->resumed_us || s->earlier ||
           s->parameters == NULL;
}

/* Corrects the start of a run that was noted late, which its exit file tells
 * once it has ended.  True: the start is another one now. */
static bool
date_back(const struct history_reader *h, struct trial *t)
{
    struct history_attempt *a = &t->seen.attempt;
    struct outcome o;
    int64_t started, ended;
    bool late;

    if (t->late_us == 0)
        return false;
    o = outcome_of(h, t);
    started = o.started_ns / 1000;
    ended = o.ended_ns / 1000;
    if (started == 0)
        return false;
    late = started < t->late_us;
    t->late_us = 0;
    if (!late)
        return false;
    a->started_us = started;
    if (a->begun_us > started)
        a->begun_us = started;
    if (t->gap_us == 0) { /* else a later gap is within it, too */
        t->gap_us = h->gone_us;
        t->resumed_us = h->resumed_us;
        t->known_us = ended > h->resumed_us ? 0 : ended;
    }
    return true;
}

/* ---- facts ---- */

static struct history_fact *
queue(struct history_reader *h, enum history_kind kind, const char *job,
      const struct trial *t)
{
    struct history_fact *f = &h->facts[h->n_facts++];
    size_t skip = h->record.len < CODE_SIZE ? h->record.len : CODE_SIZE;

    *f = (struct history_fact){
        .kind = kind,
        .record = &h->record,
        .time_us = h->record.time_us,
        .job = job,
        .trial = t == NULL ? NULL : &t->seen,
        .payload = h->record.payload + skip,
        .len = h->record.len - skip,
    };
    return f;
}

static struct jval
object_of(const struct history_reader *h)
{
    if (h->doc == NULL)
        return (struct jval){NULL};
    return json_root(h->doc);
}

static struct history_fact *
queue_object(struct history_reader *h, enum history_kind kind, const char *job,
             const struct trial *t)
{
    struct history_fact *f = queue(h, kind, job, t);

    f->object = object_of(h);
    return f;
}

/* Closes the open attempt, which ended at end_of(). */
static struct history_fact *
close_attempt(struct history_reader *h, struct trial *t, const char *status,
              int64_t noted_us)
{
    struct history_attempt *a = &t->seen.attempt;
    struct history_fact *f = queue(h, HISTORY_EXITED, t->seen.job, t);

    f->dated = date_back(h, t);
    a->ended_us = end_of(h, t, noted_us);
    t->open = false;
    t->gap_us = t->known_us = t->heard_us = t->late_us = 0;
    f->time_us = a->ended_us;
    f->attempt = *a;
    f->status = status;
    return f;
}

/* Whether nothing was heard of that attempt, nor of a later one. */
static bool
is_new_attempt(const struct trial *t, uint64_t number)
{
    return t->seen.attempts == 0 || t->seen.attempt.number < number;
}

/* Begins an attempt that is new; nobody saw the end of an earlier one that is
 * still open. */
static void
open_attempt(struct history_reader *h, struct trial *t, uint64_t number)
{
    if (t->open)
        close_attempt(h, t, NULL, 0);
    t->seen.attempt = (struct history_attempt){.number = number};
    t->seen.attempts = number < UINT64_MAX ? number + 1 : number;
    t->open = true;
    t->recorded = false;
    t->heard_us = 0;
}

/* Parses the record's payload into `doc`.  1: done; 0: it is no JSON. */
static int
parse_payload(struct history_reader *h, struct err *err)
{
    struct err why = {0};

    h->doc = json_parse(h->record.payload + CODE_SIZE,
                        h->record.len - CODE_SIZE, JSON_STRICT, &why);
    if (h->doc != NULL)
        return 1;
    return why.code == ERR_MEMORY ? no_memory(err) : 0;
}

/* Finds the members in the record's payload without a tree, where it is wanted
 * so, and it holds what the tree would. */
static bool
read_plainly(const struct history_reader *h, struct field *fields, size_t n)
{
    return h->plain &&
           fields_read(h->record.payload + CODE_SIZE, h->record.len - CODE_SIZE,
                       JSON_STRICT, fields, n, NULL) == 0;
}

/* Whether it is written as it would be anew. */
static bool
is_plain_number(const struct field *f)
{
    return f->t.type == SCAN_NUMBER && f->t.len < 19 && f->t.text[0] != '-' &&
           scan_is_integer(&f->t);
}

static bool
is_plain_text(const struct field *f)
{
    return f->t.type == SCAN_STRING && !f->t.escaped;
}

/* ---- notes ---- */

struct note {
    const char *event, *job; /* "": none */
    const char *status;
    uint64_t attempt;
    bool begins; /* a trial: that says of which parameters */
    char *id;    /* JSON text; owned; NULL: none */
};

static bool
begins(const struct note *n)
{
    return n->job[0] != '\0' && (strcmp(n->event, "preparing") == 0 ||
                                 strcmp(n->event, "started") == 0);
}

static bool
read_plain_note(struct history_reader *h, struct note *out)
{
    enum { EVENT, JOB, ID, ATTEMPT, STATUS, N };
    struct field f[N] = {[EVENT] = FIELD("event"),
                         [JOB] = FIELD("trial_job_id"),
                         [ID] = FIELD("parameter_id"),
                         [ATTEMPT] = FIELD("attempt"),
                         [STATUS] = FIELD("status")};
    char *to;

    if (!read_plainly(h, f, N) || !is_plain_text(&f[EVENT]) ||
        !is_plain_text(&f[JOB]) || !is_plain_number(&f[ID]) ||
        !is_plain_number(&f[ATTEMPT]) ||
        !(f[STATUS].t.type == SCAN_END || is_plain_text(&f[STATUS])))
        return false;
    buf_clear(&h->texts);
    to = buf_reserve(&h->texts, h->record.len + 1);
    if (to == NULL)
        return false;
    scan_uint(&f[ATTEMPT].t, &out->attempt);
    out->event = field_copy(&f[EVENT], &to, NULL);
    out->job = field_copy(&f[JOB], &to, NULL);
    if (f[STATUS].t.type != SCAN_END)
        out->status = field_copy(&f[STATUS], &to, NULL);
    out->begins = begins(out);
    if (out->begins)
        out->id = strndup(f[ID].t.text, f[ID].t.len);
    return !out->begins || out->id != NULL;
}

/* 1: it is read; 0: it is no JSON. */
static int
read_note(struct history_reader *h, struct note *out, struct err *err)
{
    struct jval root, v;
    int rc;

    *out = (struct note){.status = ""};
    if (read_plain_note(h, out))
        return 1;
    rc = parse_payload(h, err);
    if (rc != 1)
        return rc;
    root = json_root(h->doc);
    out->event = jval_text_of(root, "event");
    out->job = jval_text_of(root, "trial_job_id");
    out->status = jval_text_of(root, "status");
    if (jval_get(root, "attempt", &v))
        jval_uint(v, &out->attempt);
    out->begins = begins(out);
    if (out->begins && jval_get(root, "parameter_id", &v) &&
        (out->id = jval_copy_text(v)) == NULL)
        return no_memory(err);
    return 1;
}

/* Takes `id`. */
static int
take_begin(struct history_reader *h, const char *job, uint64_t number,
           const char *event, char *id, struct err *err)
{
    struct trial *t = find(h, job);
    struct history_attempt *a;
    struct history_fact *f;
    bool is_new;

    if (t == NULL && (t = add(h, job)) == NULL) {
        free(id);
        return no_memory(err);
    }
    a = &t->seen.attempt;
    is_new = is_new_attempt(t, number);
    /* it has ended, or a later one has begun: this one is over */
    if (!is_new && !(t->open && number == a->number)) {
        queue_object(h, HISTORY_NOTE, job, t)->event = event;
        free(id);
        return 0;
    }
    if (is_new)
        open_attempt(h, t, number);
    if (a->begun_us == 0)
        a->begun_us = h->record.time_us;
    f = queue_object(h, HISTORY_BEGUN, job, t);
    f->runs = strcmp(event, "started") == 0;
    name(h, t, id, RANK_NOTE);
    /* what was known is the start of its preparation */
    if (f->runs && a->started_us == 0)
        t->gap_us = t->known_us = t->heard_us = 0;
    if (f->runs)
        a->started_us = h->record.time_us;
    if (f->runs && may_be_late(h, t)) {
        t->late_us = h->resumed_us;
        date_back(h, t);
    }
    f->attempt = *a;
    return 0;
}

static int
take_exit(struct history_reader *h, const char *job, uint64_t number,
          const char *status, struct err *err)
{
    struct trial *t = find(h, job);
    struct history_fact *f;

    if (t == NULL && !is_over(h, job)) {
        t = add(h, job); /* the trial began in a segment that was dropped */
        if (t == NULL)
            return no_memory(err);
        open_attempt(h, t, number);
    }
    if (t == NULL || !t->open || number != t->seen.attempt.number) {
        queue_object(h, HISTORY_NOTE, job, t)->event = "exited";
        return 0;
    }
    f = close_attempt(h, t, status, h->record.time_us);
    f->object = object_of(h);
    return 0;
}

static int
take_note(struct history_reader *h, struct err *err)
{
    struct note n;
    int rc = read_note(h, &n, err);

    if (rc != 1)
        return rc;
    if (n.begins)
        return take_begin(h, n.job, n.attempt, n.event, n.id, err);
    if (n.job[0] != '\0' && strcmp(n.event, "exited") == 0)
        return take_exit(h, n.job, n.attempt, n.status, err);
    queue_object(h, HISTORY_NOTE, n.job[0] != '\0' ? n.job : NULL,
                 find(h, n.job))
        ->event = n.event;
    return 0;
}

/* ---- what trials report ---- */

static enum history_standing
standing_of(struct trial *t, const struct metric *m)
{
    uint64_t *next = &t->next[m->type == METRIC_FINAL];

    if (m->attempt < t->reporting)
        return HISTORY_SUPERSEDED;
    if (m->attempt > t->reporting) {
        t->reporting = m->attempt;
        t->next[0] = t->next[1] = 0;
        t->seen.reports = 0;
        t->seen.has_final = false;
    }
    if (m->sequence < *next)
        return HISTORY_AGAIN;
    *next = m->sequence + 1;
    return HISTORY_COUNTS;
}

static void
enter_metric(struct history_trial *t, const struct metric *m)
{
    if (m->type == METRIC_PERIODICAL) {
        t->reports++;
        t->base = m->base;
    }
    if (m->type == METRIC_PERIODICAL && m->has_value) {
        t->has_latest = true;
        t->latest = m->value;
    }
    if (m->type == METRIC_FINAL && m->has_value && !t->has_final) {
        t->has_final = true;
        t->final = m->value;
    }
}

static void
queue_metric(struct history_reader *h, const struct trial *t,
             enum history_standing standing)
{
    const struct metric *m = &h->cmd->metric;
    struct history_fact *f = queue(h, HISTORY_REPORTED, m->job, t);

    if (t != NULL && t->known_us != 0 && t->known_us < f->time_us)
        f->time_us = t->known_us;
    f->metric = (struct history_metric){.final = m->type == METRIC_FINAL,
                                        .attempt = m->attempt,
                                        .sequence = m->sequence,
                                        .base = m->base,
                                        .standing = standing,
                                        .values = {{"default", m->value}},
                                        .n_values = m->has_value,
                                        .violation = m->violation};
    if (m->values == NULL)
        return;
    f->metric.n_values = m->n_values;
    for (size_t i = 0; i < m->n_values; i++)
        f->metric.values[i] =
            (struct history_value){h->objectives->names[i], m->values[i]};
}

static int
take_metric(struct history_reader *h, struct err *err)
{
    const struct metric *m = &h->cmd->metric;
    enum history_standing standing;
    struct trial *t = find(h, m->job);
    struct err why = {0};
    char *id;

    if (m->type == METRIC_REQUEST)
        return 0;
    if (h->objectives != NULL &&
        objectives_stamp(h->objectives, &h->cmd->metric, &why) != 0 &&
        why.code == ERR_MEMORY)
        return no_memory(err);
    if (t == NULL && is_over(h, m->job)) {
        queue_metric(h, NULL, HISTORY_LATE);
        return 0;
    }
    if (t == NULL && (t = add(h, m->job)) == NULL)
        return no_memory(err);
    if (t->rank < RANK_METRIC) {
        if (id_text(&m->parameter, &id) != 0)
            return no_memory(err);
        name(h, t, id, RANK_METRIC);
    }
    /* the attempt's start is not on record */
    if (is_new_attempt(t, m->attempt))
        open_attempt(h, t, m->attempt);
    standing = standing_of(t, m);
    if (standing == HISTORY_COUNTS)
        enter_metric(&t->seen, m);
    if (m->attempt == t->seen.attempt.number)
        t->heard_us = h->record.time_us;
    queue_metric(h, t, standing);
    return 0;
}

char *
history_said(const struct history_fact *f)
{
    const char *text;
    char *said = NULL;
    struct json *doc;
    struct jval v;

    /* the first brace is the payload's own */
    if (f->metric.n_values > 0 && isfinite(f->metric.values[0].value) &&
        memchr(f->payload + 1, '{', f->len - 1) == NULL)
        return NULL;
    doc = json_parse(f->payload, f->len, JSON_NAN, NULL);
    if (doc != NULL && jval_get(json_root(doc), "value", &v) &&
        jval_string(v, &text, NULL))
        said = strdup(text);
    json_free(doc);
    return said;
}

/* ---- ends ---- */

static int
take_end(struct history_reader *h, const struct trial_end *end, struct err *err)
{
    struct trial *t = find(h, end->job);
    struct history_fact *f;
    char *id;

    if (t == NULL && is_over(h, end->job)) { /* the first end has counted */
        f = queue(h, HISTORY_ENDED, end->job, NULL);
    } else {
        if ((t == NULL && (t = add(h, end->job)) == NULL) ||
            id_text(&end->hint, &id) != 0)
            return no_memory(err);
        name(h, t, id, RANK_HINT);
        if (t->open)
            close_attempt(h, t, NULL, h->record.time_us);
        f = queue(h, HISTORY_ENDED, t->seen.job, t);
        if (t->seen.attempt.ended_us != 0 &&
            t->seen.attempt.ended_us < t->resumed_us)
            f->time_us = t->seen.attempt.ended_us;
        h->ended = map_remove(&h->trials, end->job, strlen(end->job));
        if (remember_end(h, end->job) != 0)
            return no_memory(err);
    }
    f->end = command_event_name(end->event);
    f->awaited = end->sync;
    return 0;
}

/* Reads an end without its hint, which is most of it, where that tells nothing
 * new: which parameters the trial ran is known. */
static bool
read_plain_end(struct history_reader *h, struct trial_end *out)
{
    enum { JOB, EVENT, ATTEMPT, SYNC, N };
    struct field f[N] = {[JOB] = FIELD("trial_job_id"),
                         [EVENT] = FIELD("event"),
                         [ATTEMPT] = FIELD("attempt"),
                         [SYNC] = FIELD("sync")};
    const struct trial *t;
    const char *event;

    if (!read_plainly(h, f, N) || !is_plain_text(&f[JOB]) ||
        !is_plain_text(&f[EVENT]) || !field_is_absent(&f[SYNC]) ||
        !(field_is_absent(&f[ATTEMPT]) || is_plain_number(&f[ATTEMPT])))
        return false;
    t = map_get(&h->trials, f[JOB].t.text, f[JOB].t.len);
    if (t == NULL || t->rank <= RANK_HINT)
        return false;
    *out = (struct trial_end){.job = t->seen.job};
    for (int i = END_SUCCEEDED; i <= END_PAUSED; i++) {
        event = command_event_name((enum end_event)i);
        if (strlen(event) == f[EVENT].t.len &&
            memcmp(event, f[EVENT].t.text, f[EVENT].t.len) == 0) {
            out->event = (enum end_event)i;
            return true;
        }
    }
    return false;
}

/* ---- what the sides say ---- */

/* One that goes on from no other trial. */
static bool
read_plain_suggestion(const struct history_reader *h,
                      struct history_suggestion *s)
{
    enum { ID, PARAMETERS, FROM, N };
    struct field f[N] = {[ID] = FIELD("parameter_id"),
                         [PARAMETERS] = FIELD("parameters"),
                         [FROM] = FIELD("resume_from")};

    if (!read_plainly(h, f, N) || !is_plain_number(&f[ID]) ||
        f[PARAMETERS].t.type != SCAN_OPEN_OBJECT || f[FROM].t.type != SCAN_END)
        return false;
    s->id = strndup(f[ID].t.text, f[ID].t.len);
    s->parameters = strndup(f[PARAMETERS].t.text, f[PARAMETERS].t.len);
    if (s->id != NULL && s->parameters != NULL)
        return true;
    suggestion_clear(s);
    return false;
}

static int
take_suggestion(struct history_reader *h, struct err *err)
{
    struct history_suggestion *s = calloc(1, sizeof *s), *before;
    int rc = 0;

    if (s == NULL)
        return no_memory(err);
    if (!read_plain_suggestion(h, s)) {
        rc = parse_payload(h, err);
        rc = rc == 1 ? suggestion_fill(s, json_root(h->doc)) : rc < 0 ? rc : 1;
    }
    if (rc == 0 && s->parameters == NULL)
        rc = 1;
    if (rc == 0) {
        before = map_remove(&h->suggested, s->id, strlen(s->id));
        s->earlier = before != NULL && before->earlier;
        suggestion_drop(before); /* the suggestion was sent again */
        rc = map_put(&h->suggested, s->id, strlen(s->id), s);
    }
    if (rc != 0) {
        suggestion_drop(s);
        return rc > 0 ? 0 : no_memory(err);
    }
    queue_object(h, HISTORY_SUGGESTED, NULL, NULL)->suggestion = s;
    return 0;
}

/* Takes a KI, whose payload is the trial alone. */
static int
take_decision(struct history_reader *h, struct err *err)
{
    struct history_decision d = {"stop", h->record.kind == RECORD_TUNER, true};
    struct jval root, v;
    const char *job;
    int rc = parse_payload(h, err);

    if (rc != 1)
        return rc;
    root = json_root(h->doc);
    if (!jval_string(root, &job, NULL)) {
        d.kills = false;
        if (!jval_get(root, "trial_job_id", &v) ||
            !jval_string(v, &job, NULL) || !jval_get(root, "decision", &v) ||
            !jval_string(v, &d.what, NULL))
            return 0;
    }
    queue_object(h, HISTORY_DECIDED, job, find(h, job))->decision = d;
    return 0;
}

/* Takes the next element of an AD, which is a list or a single one. */
static int
take_added(struct history_reader *h, struct err *err)
{
    struct jval all, one;
    struct history_fact *f;
    int rc = h->doc != NULL ? 1 : parse_payload(h, err);

    if (rc != 1)
        return rc;
    all = json_root(h->doc);
    while (rc == 1) {
        bool list = jval_type(all) == JSON_ARRAY;

        if (h->n_added >= (list ? jval_count(all) : 1))
            return 0;
        one = list ? jval_at(all, h->n_added) : all;
        h->n_added++;
        suggestion_clear(&h->added);
        rc = suggestion_fill(&h->added, one);
        if (rc == 0) {
            f = queue(h, HISTORY_ADDED, NULL, NULL);
            f->object = one;
            f->suggestion = &h->added;
        }
    }
    return rc < 0 ? no_memory(err) : 0;
}

/* ---- a record ---- */

static int
take_command(struct history_reader *h, struct err *err)
{
    struct frame frame = {.payload = h->record.payload + CODE_SIZE,
                          .len = h->record.len - CODE_SIZE};
    struct trial_end end;
    struct err why = {0};

    memcpy(frame.code, h->record.payload, CODE_SIZE);
    if (h->plain && memcmp(frame.code, "EN", CODE_SIZE) == 0 &&
        read_plain_end(h, &end))
        return take_end(h, &end, err);
    h->cmd = command_decode(&frame, h->record.number, &why);
    if (h->cmd == NULL)
        return why.code == ERR_MEMORY ? no_memory(err) : 0;
    return h->cmd->code == CMD_METRIC ? take_metric(h, err)
                                      : take_end(h, &h->cmd->end, err);
}

static const struct {
    enum record_kind record;
    char code[CODE_SIZE + 1];
    /* The kind of fact that comes of the record, mostly. */
    enum history_kind kind;
    int (*take)(struct history_reader *h, struct err *err);
} takers[] = {
    {RECORD_IN, "ME", HISTORY_REPORTED, take_command},
    {RECORD_IN, "NT", HISTORY_NOTE, take_note},
    {RECORD_IN, "EN", HISTORY_ENDED, take_command},
    {RECORD_IN, "AD", HISTORY_ADDED, take_added},
    {RECORD_TUNER, "TR", HISTORY_SUGGESTED, take_suggestion},
    {RECORD_TUNER, "KI", HISTORY_DECIDED, take_decision},
    {RECORD_ASSESSOR, "KI", HISTORY_DECIDED, take_decision},
    {RECORD_TUNER, "DT", HISTORY_DECIDED, take_decision},
};

/* Takes what results are judged by. */
static int
take_head(struct history_reader *h, struct err *err)
{
    const struct record *r = &h->record;
    struct err why = {0};
    struct json *doc = json_parse(r->payload, r->len, JSON_STRICT, &why);
    struct jval v;

    objectives_free(h->objectives);
    h->objectives = NULL;
    if (doc != NULL && jval_get(json_root(doc), "objectives", &v))
        h->objectives = objectives_from(v, &why);
    json_free(doc);
    return why.code == ERR_MEMORY ? no_memory(err) : 0;
}

static int
take(struct history_reader *h, struct err *err)
{
    const struct record *r = &h->record;
    int rc = r->kind == RECORD_HEAD ? take_head(h, err) : 0;

    if (r->kind == RECORD_RESUMED) {
        cross_gap(h, r->time_us);
        queue(h, HISTORY_RESUMED, NULL, NULL)->gone_us = h->at.time_us;
        return 0;
    }
    for (size_t i = 0;
         rc == 0 && r->len >= CODE_SIZE && i < sizeof takers / sizeof *takers;
         i++)
        if (r->kind == takers[i].record &&
            memcmp(r->payload, takers[i].code, CODE_SIZE) == 0) {
            if ((h->left_out & 1u << takers[i].kind) == 0)
                rc = takers[i].take(h, err);
            break;
        }
    if (rc == 0 && h->n_facts == 0)
        queue(h, HISTORY_RECORD, NULL, NULL);
    return rc;
}

void
history_leave_out(struct history_reader *h, unsigned kinds)
{
    h->left_out = kinds;
}

void
history_read_plainly(struct history_reader *h)
{
    h->plain = true;
}

void
history_leave_out_records(struct history_reader *h, history_skip *skip,
                          void *ctx)
{
    h->skip = skip;
    h->skip_ctx = ctx;
}

static bool
is_skipped(struct history_reader *h, const struct record *r)
{
    if (h->skip == NULL || !h->skip(h->skip_ctx, r))
        return false;
    h->at.time_us = r->time_us;
    return true;
}

static void
forget_lent(struct history_reader *h)
{
    json_free(h->doc);
    command_free(h->cmd);
    trial_free(h->ended);
    suggestion_clear(&h->added);
    h->doc = NULL;
    h->cmd = NULL;
    h->ended = NULL;
    h->n_facts = h->n_given = h->n_added = 0;
}

/* Hands out the next fact of the record in hand.  0: there are no more. */
static int
next_given(struct history_reader *h, struct history_fact *fact, struct err *err)
{
    if (h->n_given == h->n_facts && h->n_added > 0) {
        h->n_facts = h->n_given = 0;
        if (take_added(h, err) != 0)
            return -1;
    }
    if (h->n_given == h->n_facts)
        return 0;
    *fact = h->facts[h->n_given++];
    return 1;
}

int
history_take(struct history_reader *h, const struct record *record,
             struct err *err)
{
    int rc;

    forget_lent(h);
    h->record = *record;
    rc = take(h, err);
    h->at.number = (int64_t)record->number;
    h->at.time_us = record->time_us;
    return rc;
}

int
history_next(struct history_reader *h, struct history_fact *fact,
             struct err *err)
{
    int rc = next_given(h, fact, err);
    struct err why; /* a tail that is cut off is no error */
    struct record r;

    if (rc != 0 || h->log == NULL)
        return rc;
    do {
        switch (log_next(h->log, &r, &why)) {
        case LOG_RECORD:
            break;
        case LOG_END:
        case LOG_TORN:
            forget_lent(h);
            return 0;
        case LOG_DAMAGED:
            if (err != NULL)
                *err = why;
            return -1;
        }
    } while (is_skipped(h, &r));
    if (history_take(h, &r, err) != 0)
        return -1;
    h->at.segment = (int64_t)log_segment(h->log);
    h->at.offset = (int64_t)log_offset(h->log);
    return next_given(h, fact, err);
}

int
history_settle(struct history_reader *h, struct history_fact *fact)
{
    struct trial *t;

    forget_lent(h);
    if (h->settled == 0)
        h->results_at = 0; /* as where a gap is crossed */
    while ((t = map_next(&h->trials, &h->settled)) != NULL)
        if (t->open) {
            t->gap_us = h->at.time_us;
            h->record.len = 0; /* no record says so */
            h->record.time_us = INT64_MAX;
            *fact = *close_attempt(h, t, NULL, 0);
            h->n_facts = 0;
            return 1;
        }
    return 0;
}

/* ---- the log ---- */

static int
open_log(struct history_reader *h, struct err *err)
{
    if (!log_exists(h->folder))
        return 0;
    h->log = log_open_in(h->folder, 0, err);
    return h->log == NULL ? -1 : 0;
}

struct history_reader *
history_new(struct err *err)
{
    struct history_reader *h = calloc(1, sizeof *h);

    if (h == NULL)
        no_memory(err);
    else
        buf_init(&h->texts, SIZE_MAX / 2);
    return h;
}

struct history_reader *
history_open(const char *folder, struct err *err)
{
    struct history_reader *h = history_new(err);

    if (h == NULL)
        return NULL;
    h->folder = strdup(folder);
    h->packs = packs_new(); /* else each file is looked for anew */
    if (h->folder == NULL)
        no_memory(err);
    else if (open_log(h, err) == 0)
        return h;
    history_close(h);
    return NULL;
}

struct history_reader *
history_open_log(const char *path, struct err *err)
{
    struct history_reader *h = history_new(err);

    if (h == NULL || (h->log = log_open(path, 0, err)) != NULL)
        return h;
    history_close(h);
    return NULL;
}

void
history_close(struct history_reader *h)
{
    struct history_suggestion *s;
    struct trial *t;

    if (h == NULL)
        return;
    forget_lent(h);
    buf_fini(&h->texts);
    for (size_t at = 0; (s = map_next(&h->suggested, &at)) != NULL;)
        suggestion_drop(s);
    for (size_t at = 0; (t = map_next(&h->trials, &at)) != NULL;)
        trial_free(t);
    map_fini(&h->suggested);
    map_fini(&h->trials);
    idset_fini(&h->over);
    map_fini(&h->over_named);
    log_close(h->log);
    free(h->folder);
    packs_free(h->packs);
    objectives_free(h->objectives);
    free(h);
}

bool
history_lacks(const struct history_reader *h)
{
    return h->log != NULL && log_lacks(h->log, NULL);
}

/* ---- to be gone on with ---- */

struct history_position
history_at(const struct history_reader *h)
{
    return h->at;
}

/* Reads up to the record at `at`.  1: it does not exist any more. */
static int
skip_to(struct history_reader *h, const struct history_position *at,
        struct err *err)
{
    bool there =
        h->log != NULL && log_start_at(h->log, (uint64_t)at->segment, err) == 0;
    struct record r;

    while (there && log_next(h->log, &r, err) == LOG_RECORD) {
        const struct history_position now = {(int64_t)log_segment(h->log),
                                             (int64_t)log_offset(h->log),
                                             (int64_t)r.number, r.time_us};

        if (memcmp(&now, at, sizeof now) == 0)
            return 0;
        there = now.segment <= at->segment && now.offset < at->offset;
    }
    err_set(err, ERR_INPUT, "%s: no command %lld at offset %lld of the log",
            h->folder, (long long)at->number, (long long)at->offset);
    return 1;
}

int
history_grow(struct history_reader *h, struct err *err)
{
    if (h->log == NULL)
        return open_log(h, err);
    return log_grow(h->log, err) < 0 ? -1 : 0;
}

static void
save_suggestion(struct buf *out, const struct history_suggestion *s)
{
    pack_text(out, s->id);
    pack_text(out, s->parameters);
    pack_text(out, s->from);
    pack_u64(out, s->cloned);
    pack_u64(out, s->earlier);
}

/* What history_load() reads; `memory`: there was not enough. */
struct loading {
    struct unpack in;
    bool memory;
};

static void
load_fail(struct loading *l)
{
    l->memory = true;
    unpack_fail(&l->in);
}

static char *
load_text(struct loading *l)
{
    const char *text = unpack_text(&l->in);
    char *copy = text == NULL ? NULL : strdup(text);

    if (text != NULL && copy == NULL)
        load_fail(l);
    return copy;
}

static void
load_suggestion(struct loading *l, struct history_suggestion *s)
{
    s->id = load_text(l);
    s->parameters = load_text(l);
    s->from = load_text(l);
    s->cloned = unpack_bool(&l->in);
    s->earlier = unpack_bool(&l->in);
}

/* The numbers of a trial that are saved and loaded. */
static const size_t numbers[] = {
#define AT(member) offsetof(struct trial, member)
    AT(seen.attempts),
    AT(seen.attempt.number),
    AT(seen.attempt.begun_us),
    AT(seen.attempt.started_us),
    AT(seen.attempt.ended_us),
    AT(seen.reports),
    AT(seen.base),
    AT(seen.latest),
    AT(seen.final),
    AT(gap_us),
    AT(resumed_us),
    AT(known_us),
    AT(heard_us),
    AT(late_us),
    AT(reporting),
    AT(next[0]),
    AT(next[1]),
#undef AT
};
#define N_NUMBERS (sizeof numbers / sizeof *numbers)

static void
save_trial(struct buf *out, const struct trial *t)
{
    uint64_t n;

    pack_text(out, t->seen.job);
    save_suggestion(out, &t->seen.suggested);
    for (size_t i = 0; i < N_NUMBERS; i++) {
        memcpy(&n, (const char *)t + numbers[i], sizeof n);
        pack_u64(out, n);
    }
    pack_u64(out, t->rank);
    pack_u64(out, t->open);
    pack_u64(out, t->seen.has_latest);
    pack_u64(out, t->seen.has_final);
}

static void
load_trial(struct loading *l, struct trial *t)
{
    struct unpack *in = &l->in;
    uint64_t n;

    t->seen.job = load_text(l);
    load_suggestion(l, &t->seen.suggested);
    for (size_t i = 0; i < N_NUMBERS; i++) {
        n = unpack_u64(in);
        memcpy((char *)t + numbers[i], &n, sizeof n);
    }
    t->rank = (enum rank)unpack_u64(in);
    t->open = unpack_bool(in);
    t->seen.has_latest = unpack_bool(in);
    t->seen.has_final = unpack_bool(in);
    if (t->seen.job == NULL)
        unpack_fail(in);
}

/* Nothing where there are none, as before there could be. */
static void
save_objectives(const struct objectives *o, struct buf *out)
{
    char *text;

    if (o == NULL)
        return;
    text = objectives_text(o);
    pack_text(out, text);
    out->failed = out->failed || text == NULL;
    free(text);
}

static void
load_objectives(struct history_reader *h, struct loading *l)
{
    struct err why = {0};
    const char *text;

    if (l->in.failed || unpack_done(&l->in))
        return;
    text = unpack_text(&l->in);
    if (text == NULL)
        unpack_fail(&l->in);
    else if ((h->objectives = objectives_read(text, &why)) != NULL)
        return;
    else if (why.code == ERR_MEMORY)
        load_fail(l);
    else
        unpack_fail(&l->in);
}

void
history_save(const struct history_reader *h, struct buf *out)
{
    const struct map_slot **slots = map_sorted(&h->suggested);

    pack_u64(out, (uint64_t)h->at.segment);
    pack_u64(out, (uint64_t)h->at.offset);
    pack_u64(out, (uint64_t)h->at.number);
    pack_u64(out, (uint64_t)h->at.time_us);
    pack_u64(out, (uint64_t)h->gone_us);
    pack_u64(out, (uint64_t)h->resumed_us);
    pack_u64(out, h->suggested.count);
    out->failed = out->failed || slots == NULL;
    for (size_t i = 0; slots != NULL && i < h->suggested.count; i++)
        save_suggestion(out, slots[i]->value);
    free(slots);
    slots = map_sorted(&h->trials);
    pack_u64(out, h->trials.count);
    out->failed = out->failed || slots == NULL;
    for (size_t i = 0; slots != NULL && i < h->trials.count; i++)
        save_trial(out, slots[i]->value);
    free(slots);
    slots = map_sorted(&h->over_named);
    pack_u64(out, h->over_named.count);
    out->failed = out->failed || slots == NULL;
    for (size_t i = 0; slots != NULL && i < h->over_named.count; i++)
        pack_text(out, slots[i]->key);
    free(slots);
    idset_save(&h->over, out);
    save_objectives(h->objectives, out);
}

static void
load_suggestions(struct history_reader *h, struct loading *l)
{
    for (size_t n = unpack_count(&l->in, 8); !l->in.failed && n > 0; n--) {
        struct history_suggestion *s = calloc(1, sizeof *s);

        if (s != NULL)
            load_suggestion(l, s);
        if (s == NULL || s->id == NULL ||
            map_put(&h->suggested, s->id, strlen(s->id), s) != 0) {
            suggestion_drop(s);
            load_fail(l);
        }
    }
}

static void
load_trials(struct history_reader *h, struct loading *l)
{
    for (size_t n = unpack_count(&l->in, 8); !l->in.failed && n > 0; n--) {
        struct trial *t = calloc(1, sizeof *t);

        if (t != NULL)
            load_trial(l, t);
        if (t == NULL ||
            (!l->in.failed &&
             map_put(&h->trials, t->seen.job, strlen(t->seen.job), t) != 0))
            load_fail(l);
        if (l->in.failed)
            trial_free(t);
    }
}

static void
load_over_named(struct history_reader *h, struct loading *l)
{
    for (size_t n = unpack_count(&l->in, 8); !l->in.failed && n > 0; n--) {
        const char *job = unpack_text(&l->in);

        if (job == NULL)
            unpack_fail(&l->in);
        else if (map_put(&h->over_named, job, strlen(job), h) != 0)
            load_fail(l);
    }
}

/* What is known from segments that were dropped meanwhile is kept. */
int
history_load(struct history_reader *h, const void *bytes, size_t len,
             struct err *err)
{
    struct loading l = {unpack_from(bytes, len), false};
    struct unpack over;
    uint64_t first;

    h->at.segment = (int64_t)unpack_u64(&l.in);
    h->at.offset = (int64_t)unpack_u64(&l.in);
    h->at.number = (int64_t)unpack_u64(&l.in);
    h->at.time_us = (int64_t)unpack_u64(&l.in);
    h->gone_us = (int64_t)unpack_u64(&l.in);
    h->resumed_us = (int64_t)unpack_u64(&l.in);
    load_suggestions(h, &l);
    load_trials(h, &l);
    load_over_named(h, &l);
    over = l.in;
    if (idset_load(&h->over, &l.in) != 0 && !over.failed)
        /* the bytes are all there: it was memory */
        l.memory = unpack_count(&over, 8) > 0;
    load_objectives(h, &l);
    if (l.memory)
        return no_memory(err);
    if (!unpack_done(&l.in)) {
        err_set(err, ERR_INPUT, "what is known of its history is damaged");
        return 1;
    }
    if (h->at.segment == 0)
        return 0;
    first = h->log == NULL ? 0 : log_first_segment(h->log);
    return (uint64_t)h->at.segment < first ? 0 : skip_to(h, &h->at, err);
}

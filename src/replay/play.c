/* SPDX-License-Identifier: MIT */
#include "replay/play.h"

#include "core/clock.h"
#include "core/err.h"
#include "core/grow.h"
#include "core/map.h"
#include "dispatcher/program.h"
#include "json.h"
#include "replay/script.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct play {
    const struct play_setup *setup;
    struct play_report *report;
    struct script script;
    struct script_answer *
        *recorded[CMD_COUNT]; /* the recorded TR and NO, each by its number */
    struct program program;
    struct play_trial *trials;
    size_t n_trials, trials_cap;
    struct map ids, jobs;
    size_t at; /* the next step of the script */
    int64_t moved_ns;
    bool silent; /* the program was silent for longer than the deadline */
    bool failed; /* out of memory */
};

#define PLAY_LINES_MAX ((size_t)1 << 20) /* bytes */

/* A TR of the program's. */
struct play_trial {
    char *payload, *id; /* id: as JSON */
    size_t len;
};

/* What the program sent about a trial. */
struct play_job {
    bool killed, recorded; /* killed by the program; in the log, too */
    bool paused;
    size_t acks;
};

static void play_differ(struct play *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static struct play_job *play_job(struct play *p, const char *name);
static void play_compare_id(struct play *p, enum command_code code, size_t n,
                            const char *key);
static void play_send(struct play *p, const struct script_step *step);
static void play_judge(struct play *p);

/* DESIGN
 *
 * One loop: what may be sent is queued (all of it at once, so that what was
 * sent together arrives together), then poll(2) until the program says
 * something.  The n-th TR that comes stands for the n-th recorded one. */

/* ---- what comes ---- */

/* Notes a TR; false: one with that id came before. */
static bool
take_trial(struct play *p, const struct frame *f, const char *id)
{
    struct play_count *count = &p->report->counts[CMD_NEW_TRIAL];
    struct play_trial *t;

    if (id != NULL && map_get(&p->ids, id, strlen(id)) != NULL)
        return false;
    if (GROW(p->trials, p->n_trials, p->trials_cap) != 0) {
        p->failed = true;
        return false;
    }
    t = &p->trials[p->n_trials++];
    *t = (struct play_trial){strndup(f->payload, f->len),
                             strdup(id == NULL ? "null" : id), f->len};
    if (t->payload == NULL || t->id == NULL ||
        (id != NULL && map_put(&p->ids, id, strlen(id), p) != 0))
        p->failed = true;
    if (p->n_trials <= count->recorded) {
        const struct script_answer *a =
            p->recorded[CMD_NEW_TRIAL][p->n_trials - 1];

        p->report->same_bytes +=
            a->len == f->len && memcmp(a->payload, f->payload, f->len) == 0;
    }
    return true;
}

/* Notes a KI; false: a second one for that trial. */
static bool
take_kill(struct play *p, const char *name)
{
    struct play_job *job = name == NULL ? NULL : play_job(p, name);
    bool again = job != NULL && job->killed;

    if (job == NULL)
        return true;
    job->killed = true;
    return !again;
}

static void
take_decision(struct play *p, const struct frame *f, const char *name)
{
    struct play_job *job = name == NULL ? NULL : play_job(p, name);

    if (job != NULL && script_pauses(CMD_DECIDE_TRIAL, f->payload, f->len))
        job->paused = true;
}

static void
take_acknowledge(struct play *p, const char *name)
{
    struct play_job *job = name == NULL ? NULL : play_job(p, name);

    if (job != NULL)
        job->acks++;
}

static void
take_frame(struct play *p, const struct frame *f)
{
    const struct command_info *info;
    enum command_code code;
    struct play_count *count;
    bool counts = true;
    char *key;

    info = command_find(f->code, &code);
    if (info == NULL || info->direction == DIRECTION_IN) {
        play_differ(p, "%s came, which no dispatcher sends", f->code);
        return;
    }
    count = &p->report->counts[code];
    key = script_key(code, f->payload, f->len);
    if (code == CMD_NEW_TRIAL)
        counts = take_trial(p, f, key);
    else if (code == CMD_KILL_TRIAL)
        counts = take_kill(p, key);
    else if (code == CMD_DECIDE_TRIAL)
        take_decision(p, f, key);
    else if (code == CMD_ACKNOWLEDGE)
        take_acknowledge(p, key);
    if (counts && (code == CMD_NEW_TRIAL || code == CMD_NO_MORE))
        play_compare_id(p, code, count->came, key);
    count->came += counts;
    free(key);
}

/* Takes in a frame of the program's.  -1: the bytes are none. */
static int
receive(struct play *p)
{
    enum frame_status status;
    struct frame f;
    struct err err;

    program_read(&p->program);
    p->moved_ns = clock_monotonic_ns();
    while ((status = frame_next(&p->program.decoder, &f, &err)) == FRAME_READY)
        take_frame(p, &f);
    if (status == FRAME_BROKEN)
        play_differ(p, "%s", err.text);
    return status == FRAME_BROKEN ? -1 : 0;
}

/* ---- what is sent ---- */

static bool
all_came(const struct play *p)
{
    for (int code = 0; code < CMD_COUNT; code++)
        if (p->report->counts[code].came < p->report->counts[code].needed)
            return false;
    return true;
}

/* What the step waits for, in words; NULL: nothing. */
static const char *
lacks(const struct play *p, const struct script_step *step)
{
    const struct play_job *job =
        step->job == NULL ? NULL
                          : map_get(&p->jobs, step->job, strlen(step->job));

    if (p->n_trials < step->trials)
        return "the TR of its trial";
    if (step->killed && (job == NULL || !job->killed))
        return "the KI of its trial";
    if (step->paused && (job == NULL || !job->paused))
        return "the DT that pauses its trial";
    if (step->acks > 0 && (job == NULL || job->acks < step->acks))
        return "the AK of its trial";
    if (memcmp(step->code, "TE", 2) == 0 && !all_came(p))
        return "all that was answered before it";
    return NULL;
}

/* Queues all frames that may be sent; true: none is left. */
static bool
send_ready(struct play *p)
{
    const struct script *s = &p->script;

    if (p->program.leaving)
        return true;
    while (p->at < s->n_steps && lacks(p, &s->steps[p->at]) == NULL)
        play_send(p, &s->steps[p->at++]);
    if (p->at < s->n_steps)
        return false;
    if (!s->terminates && !s->ends_whole) {
        if (!all_came(p))
            return false;
        program_send(&p->program, CMD_TERMINATE, "", 0);
    }
    program_hang_up(&p->program);
    return true;
}

/* ---- the loop ---- */

static void
tell_silence(struct play *p)
{
    const struct script *s = &p->script;
    const char *what = "its end";

    p->silent = true;
    if (p->at < s->n_steps)
        what = lacks(p, &s->steps[p->at]);
    else if (!p->program.leaving)
        what = "all that was answered in the log";
    if (channel_pending(&p->program.channel) > 0)
        what = "it to read";
    play_differ(
        p,
        "silent for %lld ms, with %zu of %zu frames sent, waiting for %s%s%s",
        (long long)p->setup->deadline_ms, p->report->sent, s->n_steps, what,
        p->at < s->n_steps && s->steps[p->at].job != NULL ? " " : "",
        p->at < s->n_steps && s->steps[p->at].job != NULL ? s->steps[p->at].job
                                                          : "");
}

enum { IN, OUT, GONE, N_FDS };

/* Waits for the program.  1: something happened, 0: silence. */
static int
wait_for_it(struct play *p, struct pollfd fds[N_FDS])
{
    struct program *g = &p->program;
    int64_t passed = (clock_monotonic_ns() - p->moved_ns) / 1000000;
    int64_t left = p->setup->deadline_ms - passed;
    int n;

    fds[IN] = (struct pollfd){g->out_closed ? -1 : g->channel.in, POLLIN, 0};
    fds[OUT] = (struct pollfd){
        channel_pending(&g->channel) > 0 ? g->channel.out : -1, POLLOUT, 0};
    fds[GONE] = (struct pollfd){g->pidfd, POLLIN, 0};
    n = poll(fds, N_FDS,
             left < 0           ? 0
             : left > INT32_MAX ? INT32_MAX
                                : (int)left);
    return n < 0 && errno == EINTR ? 1 : n != 0;
}

/* Reads what the program wrote before it ended, which is still in the pipe. */
static void
drain(struct play *p)
{
    struct pollfd fd = {.fd = p->program.channel.in, .events = POLLIN};

    while (!p->program.out_closed && poll(&fd, 1, 0) == 1)
        if (receive(p) != 0)
            return;
}

static void
converse(struct play *p)
{
    struct program *g = &p->program;
    struct pollfd fds[N_FDS];

    p->moved_ns = clock_monotonic_ns();
    for (;;) {
        size_t pending;

        (void)send_ready(p);
        pending = channel_pending(&g->channel);
        program_write(g);
        if (channel_pending(&g->channel) < pending)
            p->moved_ns = clock_monotonic_ns();
        if (!wait_for_it(p, fds)) {
            tell_silence(p);
            program_kill(g);
            return;
        }
        if (fds[IN].revents != 0 && receive(p) != 0) {
            program_kill(g);
            return;
        }
        if (fds[GONE].revents != 0) {
            drain(p);
            return;
        }
    }
}

/* ---- start and end ---- */

/* Numbers the recorded answers of each code. */
static int
number_answers(struct play *p)
{
    size_t n[CMD_COUNT] = {0};

    for (int code = 0; code < CMD_COUNT; code++) {
        p->recorded[code] = calloc(p->report->counts[code].recorded + 1,
                                   sizeof *p->recorded[code]);
        if (p->recorded[code] == NULL)
            return -1;
    }
    for (size_t i = 0; i < p->script.n_answers; i++) {
        struct script_answer *a = &p->script.answers[i];

        p->recorded[a->code][n[a->code]++] = a;
    }
    return 0;
}

static int
begin(struct play *p, struct err *err)
{
    struct play_report *r = p->report;

    if (script_open(&p->script, p->setup->path, err) != 0)
        return -1;
    r->frames = p->script.n_steps;
    r->left_out = p->script.left_out;
    r->crossed = p->script.crossed;
    r->resumed = p->script.resumed;
    r->ended = p->script.terminates || p->script.ends_whole;
    for (size_t i = 0; i < p->script.n_answers; i++) {
        r->counts[p->script.answers[i].code].recorded++;
        r->counts[p->script.answers[i].code].needed +=
            p->script.answers[i].needed;
    }
    if (number_answers(p) != 0)
        return err_set(err, ERR_MEMORY, "play: out of memory");
    signal(SIGPIPE, SIG_IGN);
    return program_start(
        &p->program, p->setup->argv, NULL,
        &(struct program_told){.seed = p->script.seed,
                               .direction = p->script.direction,
                               .objectives = p->script.objectives,
                               .judged = p->script.judged},
        p->script.max_payload, err);
}

static void
end(struct play *p)
{
    struct play_job *job;
    size_t at = 0;

    while ((job = map_next(&p->jobs, &at)) != NULL)
        free(job);
    map_fini(&p->jobs);
    map_fini(&p->ids);
    for (size_t i = 0; i < p->n_trials; i++) {
        free(p->trials[i].payload);
        free(p->trials[i].id);
    }
    free(p->trials);
    for (int code = 0; code < CMD_COUNT; code++)
        free(p->recorded[code]);
    script_close(&p->script);
}

int
play_run(const struct play_setup *setup, struct play_report *report,
         struct err *err)
{
    struct play p = {.setup = setup, .report = report, .program = PROGRAM_NONE};
    int rc;

    *report = (struct play_report){0};
    buf_init(&report->lines, PLAY_LINES_MAX);
    rc = begin(&p, err);
    if (rc == 0) {
        converse(&p);
        program_reap(&p.program, report->how, sizeof report->how);
        play_judge(&p);
        if (p.failed)
            rc = err_set(err, ERR_MEMORY, "play: out of memory");
    }
    end(&p);
    return rc;
}

void
play_report_fini(struct play_report *report)
{
    buf_fini(&report->lines);
}

/* ---- words of a command ---- */

/* The words of a command line; their texts lie behind the pointers, in one
 * piece of memory: at most one word for each two bytes. */
struct words {
    const char **argv;
    size_t n;
    char *to;
    bool open; /* a word has begun */
};

static void
put(struct words *w, char c)
{
    if (!w->open)
        w->argv[w->n++] = w->to;
    w->open = true;
    if (c != '\0')
        *w->to++ = c;
}

static void
close_word(struct words *w)
{
    if (w->open)
        *w->to++ = '\0';
    w->open = false;
}

/* Splits the text into words; false: a shell is needed. */
static bool
split(struct words *w, const char *text)
{
    char quote = '\0';

    for (const char *p = text; *p != '\0'; p++) {
        if (quote != '\0') {
            if (*p == quote)
                quote = '\0';
            else if (quote == '"' && strchr("$`\\!", *p) != NULL)
                return false;
            else
                put(w, *p);
        } else if (*p == '\'' || *p == '"') {
            quote = *p;
            put(w, '\0');
        } else if (*p == ' ' || *p == '\t') {
            close_word(w);
        } else if (strchr("|&;<>()$`\\*?[]{}~#!\n", *p) != NULL ||
                   (*p == '=' && w->n <= 1)) {
            return false;
        } else {
            put(w, *p);
        }
    }
    close_word(w);
    return quote == '\0';
}

const char **
play_words(const char *text, bool *shell, struct err *err)
{
    size_t len = strlen(text), n = len / 2 + 5;
    struct words w = {.argv = calloc(1, n * sizeof *w.argv + 2 * len + 16)};

    if (w.argv == NULL) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    w.to = (char *)(w.argv + n);
    *shell = !split(&w, text);
    if (*shell) {
        memset(w.argv, 0, n * sizeof *w.argv);
        w.argv[0] = "sh";
        w.argv[1] = "-c";
        w.argv[2] = memcpy(w.argv + n, text, len + 1);
    } else if (w.n == 0) {
        free(w.argv);
        err_set(err, ERR_USAGE, "expected a command, got '%s'", text);
        return NULL;
    }
    return w.argv;
}

/* ---- one step ---- */

/* Writes a frame's payload with the id that the program gave the trial; for an
 * EN, with the TR that it sent. */
static void
rename_trial(const struct play *p, const struct script_step *step,
             struct jval object, struct buf *out)
{
    const struct play_trial *t = &p->trials[step->trial];
    bool end = memcmp(step->code, "EN", 2) == 0;
    struct jval_iter it = jval_iter(object);
    struct json_writer w = json_begin_object(out);

    while (jval_next(&it))
        if (end && strcmp(it.key, "hyper_params") == 0)
            json_add_string(&w, it.key, t->payload, t->len);
        else if (!end && strcmp(it.key, "parameter_id") == 0)
            json_add_raw(&w, it.key, t->id);
        else
            jval_write(it.value, json_value(&w, it.key));
    json_close(&w);
}

static bool
is_as_recorded(const struct play *p, const struct script_step *step)
{
    const struct script_answer *a;
    const struct play_trial *t;

    if (step->trial == SCRIPT_NONE)
        return true;
    a = p->recorded[CMD_NEW_TRIAL][step->trial];
    t = &p->trials[step->trial];
    if (memcmp(step->code, "EN", 2) == 0)
        return a->len == t->len && memcmp(a->payload, t->payload, t->len) == 0;
    return strcmp(a->key, t->id) == 0;
}

/* Queues a frame, with the id that the program gave the trial. */
static void
play_send(struct play *p, const struct script_step *step)
{
    struct json *doc =
        is_as_recorded(p, step)
            ? NULL
            : json_parse(step->payload, step->len, JSON_NAN, NULL);
    struct buf text;

    buf_init(&text, SIZE_MAX / 2);
    if (doc != NULL && jval_type(json_root(doc)) == JSON_OBJECT)
        rename_trial(p, step, json_root(doc), &text);
    else
        buf_add(&text, step->payload, step->len);
    program_send_frame(&p->program, step->code, text.len > 0 ? text.data : "",
                       text.len);
    p->failed = p->failed || text.failed;
    p->report->sent++;
    buf_fini(&text);
    json_free(doc);
}

/* ---- what is compared in the end ---- */

static void
play_differ(struct play *p, const char *fmt, ...)
{
    char line[400];
    va_list ap;

    if (p->report->differences++ >= PLAY_LINES)
        return;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    buf_printf(&p->report->lines, "%s\n", line);
}

/* What the program sent about the trial of that name; NULL: out of memory. */
static struct play_job *
play_job(struct play *p, const char *name)
{
    struct play_job *job = map_get(&p->jobs, name, strlen(name));

    if (job != NULL)
        return job;
    job = calloc(1, sizeof *job);
    if (job != NULL && map_put(&p->jobs, name, strlen(name), job) != 0) {
        free(job);
        job = NULL;
    }
    p->failed = p->failed || job == NULL;
    return job;
}

/* Compares the n-th frame of that code (from 0) by its `key`; NULL: it has
 * nothing to compare. */
static void
play_compare_id(struct play *p, enum command_code code, size_t n,
                const char *key)
{
    const struct script_answer *a;

    if (n >= p->report->counts[code].recorded)
        return; /* that the number of frames differs is told */
    a = p->recorded[code][n];
    if (key == NULL || a->key == NULL || strcmp(key, a->key) != 0)
        play_differ(p, "%s %zu: parameter_id %.100s recorded, %.100s came",
                    command_info(code)->code, n + 1,
                    a->key == NULL ? "none" : a->key,
                    key == NULL ? "none" : key);
}

static void
compare_counts(struct play *p)
{
    for (int code = 0; code < CMD_COUNT; code++) {
        const struct play_count *c = &p->report->counts[code];

        if (c->came < c->needed || c->came > c->recorded)
            play_differ(p, "%s: %zu recorded, %zu came",
                        command_info((enum command_code)code)->code,
                        c->recorded, c->came);
    }
}

static void
compare_kills(struct play *p)
{
    const struct script *s = &p->script;
    struct map_slot *slot;

    for (size_t i = 0; i < s->n_answers; i++) {
        const struct script_answer *a = &s->answers[i];
        struct play_job *job;

        if (a->code != CMD_KILL_TRIAL || a->key == NULL)
            continue;
        job = play_job(p, a->key);
        if (job == NULL)
            return;
        job->recorded = true;
        if (!job->killed && a->needed)
            play_differ(p, "trial '%.100s' is killed in the log alone", a->key);
    }
    for (size_t i = 0; i < p->jobs.n_slots; i++) {
        const struct play_job *job;

        slot = &p->jobs.slots[i];
        job = slot->key == NULL ? NULL : slot->value;
        if (job != NULL && job->killed && !job->recorded)
            play_differ(p, "trial '%.*s' is killed by the program alone",
                        (int)(slot->len < 100 ? slot->len : 100), slot->key);
    }
}

/* Judges what came, when nothing more will come. */
static void
play_judge(struct play *p)
{
    const struct script *s = &p->script;

    if (p->at < s->n_steps && !p->silent)
        play_differ(p, "ended with %zu of %zu frames sent: %s", p->report->sent,
                    s->n_steps, p->report->how);
    compare_counts(p);
    if (p->at < s->n_steps)
        return;
    compare_kills(p);
    if ((s->terminates || s->ends_whole) &&
        strcmp(p->report->how, "exit status 0") != 0 && !p->silent)
        play_differ(p, "ended with %s", p->report->how);
}

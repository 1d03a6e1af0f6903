/* SPDX-License-Identifier: MIT */
/* DESIGN.  A dispatcher that dies is started again at once, with --resume: it
 * rebuilds itself from its log.  Meanwhile trials go on, and what is to be
 * told waits in the exchange.  Its first frame tells how many commands its log
 * holds; from there on all is sent again, and what was asked for and is not
 * on the wire again is forgotten.  A start that fails for want of processes,
 * memory or descriptors is tried again, as that of a trial is. */
#include "manager/peer.h"

#include "command.h"
#include "config/experiment.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/number.h"
#include "core/passing.h"
#include "json.h"
#include "log/lock.h"
#include "log/log.h"
#include "manager/delivery.h"
#include "manager/happened.h"
#include "manager/imports.h"
#include "manager/origin.h"
#include "manager/placing.h"
#include "manager/state.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define WORDS_MAX (32 + 2 * DISPATCHER_SKIPS_MAX)
#define FOLDERS_MAX ((size_t)1 << 20)
#define EXIT_LOG 5 /* as in PROTOCOL.md */
/* What a dispatcher's stop may take: a trial's grace, but no less than what a
 * dispatcher takes by itself, and no more than what it is waited for. */
#define GRACE_MIN_MS 2000
#define GRACE_MAX_MS 10000

/* ---- its start ---- */

struct words {
    const char *argv[WORDS_MAX];
    size_t n;
};

static void
add(struct words *w, const char *word)
{
    w->argv[w->n++] = word;
    w->argv[w->n] = NULL;
}

/* Watches the dispatcher's pipes and its end.  Where they cannot be watched the
 * dispatcher is killed and the pipes are closed: nobody would see its end. */
static int
watch(struct manager *m, const struct supervised_pipes *pipes, struct err *err)
{
    if (manager_watch(m, pipes->from, EPOLLIN, SOURCE_FRAMES_IN) == 0 &&
        manager_watch(m, pipes->words, EPOLLIN, SOURCE_WORDS) == 0 &&
        manager_watch(m, m->dispatcher.pidfd, EPOLLIN, SOURCE_DISPATCHER) == 0)
        return 0;
    err_errno(err, ERR_SYSTEM, "cannot watch the dispatcher");
    supervisor_close(&m->dispatcher);
    close(pipes->to);
    close(pipes->from);
    close(pipes->words);
    return -1;
}

/* Starts `tunepipe dispatch` with these words, and with those that a new
 * session and one that goes on share.  -1: none runs. */
static int
launch(struct manager *m, struct words *w, struct err *err)
{
    struct supervised_pipes pipes;
    int64_t grace_ms = m->x->grace_ms;
    char grace[32];

    if (grace_ms < GRACE_MIN_MS)
        grace_ms = GRACE_MIN_MS;
    if (grace_ms > GRACE_MAX_MS)
        grace_ms = GRACE_MAX_MS;
    snprintf(grace, sizeof grace, "%.3fs", (double)grace_ms / 1e3);
    add(w, "--grace");
    add(w, grace);
    add(w, "--dir");
    add(w, m->folder.path);
    if (supervisor_start(&m->dispatcher, m->options->dispatcher,
                         m->launch.program_folder, w->argv, &pipes, err) != 0 ||
        watch(m, &pipes, err) != 0)
        return -1;
    supervisor_record(&m->dispatcher, m->folder.path);
    m->writable_asked = false;
    exchange_open(&m->exchange, pipes.to, pipes.from);
    tail_attach(&m->words, pipes.words, 65536);
    return 0;
}

static void
send_space(struct manager *m)
{
    struct err err = {0};

    exchange_send(&m->exchange, "IN", m->x->search_space,
                  strlen(m->x->search_space));
    if (imports_send_kept(&m->exchange, m->folder.path, 0, &err) != 0)
        progress_warn(&m->progress, "tunepipe: warning: not imported: %s",
                      err.text);
}

void
peer_ask_again(struct manager *m)
{
    m->phase = PHASE_STARTING;
    send_space(m);
}

static int
start(struct manager *m, struct err *err)
{
    struct words w = {.n = 0};
    char seed[32];

    snprintf(seed, sizeof seed, "%llu", (unsigned long long)m->seed);
    add(&w, "--config");
    add(&w, m->x->file);
    add(&w, "--seed");
    add(&w, seed);
    add(&w, "--early-stopped");
    add(&w, early_stopped_name(m->x->early_stopped));
    add(&w, "--direction");
    add(&w, m->x->minimize ? "minimize" : "maximize");
    add(&w, "--extensions");
    return launch(m, &w, err);
}

/* Whether there is one that was begun.  Else the process died before its head
 * was there, and nothing was ever taken from us.  One that cannot be read is
 * for the dispatcher to tell of. */
static bool
has_log(const struct manager *m)
{
    struct log_reader *log = log_open_in(m->folder.path, 0, NULL);
    bool begun = log == NULL || log_is_begun(log);

    log_close(log);
    return begun;
}

static void
add_folder(struct buf *out, const struct algorithm *a)
{
    const char *file = a->plugin != NULL ? a->plugin : a->name;
    const char *slash = file != NULL ? strrchr(file, '/') : NULL;

    if (slash == NULL || slash == file)
        return; /* it comes with tunepipe */
    if (out->len > 0)
        buf_add_char(out, ':');
    buf_add(out, file, (size_t)(slash - file));
}

/* The log names plugins and not their files: where to look for them. */
static void
list_folders(const struct manager *m, struct buf *out)
{
    buf_init(out, FOLDERS_MAX);
    add_folder(out, &m->x->tuner);
    add_folder(out, &m->x->assessor);
    for (size_t i = 0; i < m->x->n_filters; i++)
        add_folder(out, &m->x->filters[i]);
}

static int
resume(struct manager *m, struct err *err)
{
    char skips[DISPATCHER_SKIPS_MAX][32];
    struct buf folders;
    char sync[SYNC_TEXT_MAX], size[24];
    struct words w = {.n = 0};
    int rc;

    add(&w, "--resume");
    sync_policy_write(&m->x->sync, sync);
    add(&w, "--sync"); /* not in the log: no answer depends on it */
    add(&w, sync);
    snprintf(size, sizeof size, "%" PRIu64, m->x->segments.size);
    add(&w, "--segment-size");
    add(&w, size);
    add(&w, "--old-segments");
    add(&w, old_segments_name(m->x->segments.old));
    list_folders(m, &folders);
    if (folders.len > 0) {
        add(&w, "--plugin-path");
        add(&w, buf_text(&folders));
    }
    for (size_t i = 0; i < m->n_skips; i++) {
        snprintf(skips[i], sizeof skips[i], "%c:%llu",
                 m->skips[i].worker == LOCKFILE_DEFAULT ? 't' : 'a',
                 (unsigned long long)m->skips[i].number);
        add(&w, "--skip");
        add(&w, skips[i]);
    }
    rc = launch(m, &w, err);
    buf_fini(&folders);
    return rc;
}

/* Starts the dispatcher so, now or, if that cannot be now, later. */
static int
begin(struct manager *m, int (*how)(struct manager *m, struct err *err),
      struct err *err)
{
    struct peer_retry *r = &m->dispatcher_retry;
    int64_t now = clock_monotonic_ns();

    if (how(m, err) == 0) {
        r->failures = 0;
        m->closing_deadline_ns = now + CLOSING_NS; /* if it is closing */
        return 0;
    }
    if (err->code != ERR_MEMORY && !errno_passes(err->number))
        return -1;
    if (r->failures == 0)
        r->until_ns = now + m->x->place_ms * (int64_t)1000000;
    if (now >= r->until_ns)
        return -1;
    if (r->failures == 0)
        progress_warn(&m->progress,
                      "tunepipe: warning: the dispatcher cannot be started "
                      "now: %s; tried again for %.0f s (placeTimeout)",
                      err->text, (double)m->x->place_ms / 1e3);
    r->due = true;
    r->at_ns = now + placing_pause_ns(r->failures++);
    return 0;
}

int
peer_start(struct manager *m, struct err *err)
{
    exchange_base(&m->exchange, 0);
    send_space(m);
    return begin(m, start, err);
}

int
peer_resume(struct manager *m, struct err *err)
{
    if (has_log(m))
        return begin(m, resume, err);
    if (!m->exchange.based) /* a new manager's; it has sent the space */
        exchange_base(&m->exchange, 0);
    if (exchange_resume(&m->exchange, 0, NULL, NULL, err) != 0)
        return -1;
    m->phase = PHASE_STARTING;
    return begin(m, start, err);
}

/* A first dispatcher that was killed, since it could not be watched, may have
 * begun the log: then the next one goes on from there. */
void
peer_retry(struct manager *m, int64_t now_ns)
{
    struct err err = {0};

    if (now_ns < peer_deadline(m))
        return;
    m->dispatcher_retry.due = false;
    exchange_hold(&m->exchange);
    if (peer_resume(m, &err) == 0)
        return;
    if (m->end_known)
        progress_warn(&m->progress,
                      "tunepipe: warning: the dispatcher cannot be started: %s",
                      err.text);
    manager_end(m, MANAGER_DISPATCHER, "the dispatcher cannot be started: %s",
                err.text);
    running_interrupt_all(m);
}

int64_t
peer_deadline(const struct manager *m)
{
    return m->dispatcher_retry.due ? m->dispatcher_retry.at_ns : INT64_MAX;
}

/* ---- another one goes on ---- */

/* What is sent again: frames, and suggestions asked for. */
struct resent {
    uint64_t frames, asked;
};

static void
count_resent(void *ctx, const struct frame *frame)
{
    struct resent *again = ctx;
    uint64_t n = 0;

    again->frames++;
    if (strcmp(frame->code, command_info(CMD_REQUEST_TRIALS)->code) == 0 &&
        number_parse_u64(frame->payload, frame->len, &n))
        again->asked += n;
}

static uint64_t
get_count(struct jval root, const char *key)
{
    struct jval v;
    uint64_t n = 0;

    if (jval_get(root, key, &v))
        jval_uint(v, &n);
    return n;
}

static void
say_resumed(struct manager *m, uint64_t last, uint64_t resent, uint64_t derived,
            const struct resent *again)
{
    progress_say(&m->progress,
                 "tunepipe: the dispatcher goes on from its log of %llu "
                 "commands; sent again: %llu, suggestions repeated: %llu, "
                 "answers derived: %llu",
                 (unsigned long long)last, (unsigned long long)again->frames,
                 (unsigned long long)resent, (unsigned long long)derived);
}

void
peer_resumed(struct manager *m, const struct frame *id)
{
    struct json *doc = json_parse(id->payload, id->len, JSON_STRICT, NULL);
    struct jval root = {NULL};
    uint64_t last, owed, resent, derived;
    struct resent again = {0};
    struct err err = {0};
    bool refused;
    struct jval v;

    if (doc != NULL)
        root = json_root(doc);
    last = get_count(root, "last");
    owed = get_count(root, "owed");
    resent = get_count(root, "resent");
    derived = get_count(root, "derived");
    if (m->options->resume != NULL && !m->outcome->initialized)
        m->recovered.resent = resent;
    refused = last > 0 && jval_get(root, "space", &v);
    json_free(doc);
    if (exchange_resume(&m->exchange, last, count_resent, &again, &err) != 0) {
        m->dispatcher_given_up = true;
        manager_end(m, MANAGER_DISPATCHER, "the dispatcher cannot go on: %s",
                    err.text);
        manager_signal_dispatcher(m, SIGTERM);
        running_interrupt_all(m);
        return;
    }
    if (last > m->log_last)
        deaths_progress(&m->deaths);
    m->log_last = last;
    m->n_skips = 0;
    scheduler_owes(&m->scheduler, owed + resent + again.asked);
    m->delivery->resumed(m, last, owed, resent, again.asked);
    if (m->phase == PHASE_STARTING && last > 0)
        m->phase = PHASE_RUNNING;
    if (refused)
        peer_ask_again(m);
    if (last > 0)
        say_resumed(m, last, resent, derived, &again);
}

/* ---- its death: who was at work, and whether another one is started ---- */

static const char *
name_of(const struct algorithm *a)
{
    if (a->class_name != NULL)
        return a->class_name;
    return a->name != NULL ? a->name : a->plugin;
}

/* What its workers were at when it ended, as far as its lock file tells. */
static void
read_slots(const struct manager *m, uint64_t out[LOCKFILE_SLOTS])
{
    struct lockfile lock;
    bool good = lockfile_read(m->folder.path, &lock);

    for (int i = 0; i < LOCKFILE_SLOTS; i++)
        out[i] = good ? lock.slots[i] : 0;
}

static void
name_worker(const struct manager *m, int worker, char *text, size_t size)
{
    if (worker == LOCKFILE_DEFAULT)
        snprintf(text, size, "tuner %.200s%s", name_of(&m->x->tuner),
                 m->x->n_filters > 0 ? " (or a filter around it)" : "");
    else
        snprintf(text, size, "assessor %.200s", name_of(&m->x->assessor));
}

/* Before the first command the plugins are set up, one after the other. */
static void
blame_start(const struct manager *m, char *text, size_t size)
{
    const char *tuner = name_of(&m->x->tuner);
    const char *assessor = name_of(&m->x->assessor);

    if (assessor == NULL)
        snprintf(text, size, " while tuner %.200s was being set up", tuner);
    else
        snprintf(text, size,
                 " while tuner %.120s and assessor %.120s were being set up",
                 tuner, assessor);
}

void
peer_blame(const struct manager *m, char *text, size_t size)
{
    uint64_t at[LOCKFILE_SLOTS];
    char who[256], work[40];
    size_t len = 0;

    text[0] = '\0';
    read_slots(m, at);
    for (int i = 0; i < LOCKFILE_SLOTS; i++)
        if (at[i] != 0 && len < size) {
            name_worker(m, i, who, sizeof who);
            len += (size_t)snprintf(text + len, size - len, "%s %s was %s",
                                    len == 0 ? " while" : " and", who,
                                    supervisor_work(at[i], work, sizeof work));
        }
    if (text[0] == '\0' && m->phase == PHASE_STARTING)
        blame_start(m, text, size);
}

/* Whether it has ended by a decision of its own, which would be the same
 * again. */
static bool
is_decision(const struct manager *m, int status)
{
    static const int statuses[] = {0, 2, 3, 5, 6, 129, 130, 143};

    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i] == status)
            return true;
    return m->phase == PHASE_CLOSING && status >= 0;
}

/* Whether it was ended by a signal that ends whatever it reaches, and will
 * reach the manager, too. */
static bool
is_told_to_stop(int status)
{
    return status == 128 + SIGHUP || status == 128 + SIGINT ||
           status == 128 + SIGTERM;
}

/* Whether it died before it had anything that another one could go on with. */
static bool
dies_at_start(const struct manager *m, int signal)
{
    return m->phase == PHASE_STARTING && m->options->resume == NULL &&
           (signal == 0 || deaths_is_fault(signal));
}

static void
skip(struct manager *m, int worker, uint64_t number)
{
    char who[256];

    name_worker(m, worker, who, sizeof who);
    progress_warn(&m->progress,
                  "tunepipe: warning: %s kills the dispatcher at command %llu, "
                  "again and again: the command is skipped",
                  who, (unsigned long long)number);
    if (m->n_skips < DISPATCHER_SKIPS_MAX)
        m->skips[m->n_skips++] = (struct skip){worker, number};
}

static bool
go_on(struct manager *m)
{
    struct err err = {0};

    exchange_hold(&m->exchange);
    tail_close(&m->words);
    origin_repeat(m);
    if (peer_resume(m, &err) == 0)
        return true;
    progress_warn(&m->progress, "tunepipe: error: %s", err.text);
    return false;
}

/* An earlier manager's dispatcher was only about to take the lock when we
 * looked whether it had ended: it was faster than ours, and ends with its
 * input. */
static bool
wait_for_another(struct manager *m, int status)
{
    bool began = !m->exchange.held && m->phase != PHASE_STARTING;
    struct lockfile lock;
    struct err err = {0};

    if (status != EXIT_LOG || began || m->options->resume == NULL ||
        m->waited_for_another ||
        (lockfile_read(m->folder.path, &lock) &&
         supervisor_is_writer(&m->dispatcher, &lock)))
        return false;
    m->waited_for_another = true;
    return supervisor_await_earlier(m->folder.path, &err) == 0 && go_on(m);
}

/* Whether another dispatcher was started in the place of the one that died. */
static bool
start_again(struct manager *m, const struct supervised_end *end,
            const char *who, const uint64_t at[LOCKFILE_SLOTS])
{
    /* Whoever ends it by _exit() does wrong, too. */
    bool fault = end->signal == 0 || deaths_is_fault(end->signal);
    int worker = 0;

    switch (deaths_add(&m->deaths, fault, at, &worker)) {
    case DEATHS_OVER:
        return false;
    case DEATHS_RESTART:
        progress_warn(&m->progress,
                      "tunepipe: warning: the dispatcher died (%s)%s: it is "
                      "started again from its log",
                      end->how, who);
        break;
    case DEATHS_SKIP:
        skip(m, worker, at[worker]);
        break;
    }
    if (!fault)
        scheduler_pardon(&m->scheduler); /* a program's answers died with it */
    if (!go_on(m))
        return false;
    happened_text(m, EVENT_DISPATCHER_RESTARTED, end->how, strlen(end->how));
    return true;
}

void
peer_ended(struct manager *m)
{
    uint64_t at[LOCKFILE_SLOTS];
    struct supervised_end end;
    char who[300];
    int status;

    supervisor_end(&m->dispatcher, &end);
    manager_unwatch(m, m->dispatcher.pidfd);
    supervisor_close(&m->dispatcher);
    m->outcome->dispatcher_status = status = end.status;
    if (m->phase == PHASE_CLOSING && status == 0)
        return;
    if (wait_for_another(m, status))
        return;
    read_slots(m, at);
    peer_blame(m, who, sizeof who);
    if (!is_decision(m, status) && !dies_at_start(m, end.signal) &&
        !m->dispatcher_given_up && !deaths_repeat(&m->deaths, status, at) &&
        start_again(m, &end, who, at))
        return;
    if (m->phase == PHASE_CLOSING) {
        progress_warn(&m->progress,
                      "tunepipe: warning: the dispatcher ended with %s%s",
                      end.how, who);
        return;
    }
    if (is_told_to_stop(status))
        manager_end(m, MANAGER_INTERRUPTED,
                    "interrupted: the dispatcher was told to stop (signal %d)",
                    status - 128);
    manager_end(
        m, MANAGER_DISPATCHER,
        "the dispatcher ended by itself (%s)%s; what it said is in " FOLDER_DISPATCHER_LOG,
        end.how, who);
    running_interrupt_all(m);
}

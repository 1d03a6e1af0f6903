/* SPDX-License-Identifier: MIT */
/* DESIGN.  A dispatcher that dies is started again at once, with --resume, and
 * rebuilds itself from its log.  Meanwhile trials go on, and frames for it wait
 * in the exchange.  Its first frame tells how many commands its log holds: all
 * later ones are sent again, and it says how many suggestions it owes, whatever
 * was counted before.  A start that fails for want of processes, memory or
 * descriptors is tried again, as that of a trial is. */
#include "manager/dispatcher.h"

#include "command.h"
#include "config/experiment.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/number.h"
#include "core/passing.h"
#include "core/visible.h"
#include "json.h"
#include "log/lock.h"
#include "log/log.h"
#include "manager/delivery.h"
#include "manager/publish.h"
#include "manager/imports.h"
#include "manager/live.h"
#include "manager/origin.h"
#include "manager/parameters.h"
#include "manager/placing.h"
#include "manager/state.h"
#include "manager/trial.h"

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

struct arguments {
    const char *argv[WORDS_MAX];
    size_t n;
};

static void
add_argument(struct arguments *w, const char *word)
{
    w->argv[w->n++] = word;
    w->argv[w->n] = NULL;
}

/* Watches the dispatcher's pipes and its end.  Where they cannot be watched the
 * dispatcher is killed and the pipes are closed: nobody would see its end. */
static int
watch_process(struct manager *m, const struct supervised_pipes *pipes,
              struct err *err)
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
start_process(struct manager *m, struct arguments *w, struct err *err)
{
    struct supervised_pipes pipes;
    int64_t grace_ms = m->x->grace_ms;
    char grace[32];

    if (grace_ms < GRACE_MIN_MS)
        grace_ms = GRACE_MIN_MS;
    if (grace_ms > GRACE_MAX_MS)
        grace_ms = GRACE_MAX_MS;
    snprintf(grace, sizeof grace, "%.3fs", (double)grace_ms / 1e3);
    add_argument(w, "--grace");
    add_argument(w, grace);
    add_argument(w, "--dir");
    add_argument(w, m->folder.path);
    if (supervisor_start(&m->dispatcher, m->options->dispatcher,
                         m->launch.program_folder, w->argv, &pipes, err) != 0 ||
        watch_process(m, &pipes, err) != 0)
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
dispatcher_send_space(struct manager *m)
{
    m->phase = PHASE_STARTING;
    send_space(m);
}

static int
start_session(struct manager *m, struct err *err)
{
    struct arguments w = {.n = 0};
    char seed[32];

    snprintf(seed, sizeof seed, "%llu", (unsigned long long)m->seed);
    add_argument(&w, "--config");
    add_argument(&w, m->x->file);
    add_argument(&w, "--seed");
    add_argument(&w, seed);
    add_argument(&w, "--early-stopped");
    add_argument(&w, early_stopped_name(m->x->early_stopped));
    add_argument(&w, "--direction");
    add_argument(&w, m->x->minimize ? "minimize" : "maximize");
    add_argument(&w, "--extensions");
    return start_process(m, &w, err);
}

/* Whether there is a log to go on from.  A log that was not begun shows that
 * the process died before it took anything from us.  What is wrong with one
 * that cannot be read the dispatcher will say. */
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
        return; /* the plugin comes with tunepipe */
    if (out->len > 0)
        buf_add_char(out, ':');
    buf_add(out, file, (size_t)(slash - file));
}

/* Lists the folders of the plugins' files: the log has the plugins' names only.
 */
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
start_from_log(struct manager *m, struct err *err)
{
    char skips[DISPATCHER_SKIPS_MAX][32];
    struct buf folders;
    char sync[SYNC_TEXT_MAX], size[24];
    struct arguments w = {.n = 0};
    int rc;

    add_argument(&w, "--resume");
    sync_policy_write(&m->x->sync, sync);
    add_argument(&w, "--sync"); /* not in the log: no answer depends on it */
    add_argument(&w, sync);
    snprintf(size, sizeof size, "%" PRIu64, m->x->segments.size);
    add_argument(&w, "--segment-size");
    add_argument(&w, size);
    add_argument(&w, "--old-segments");
    add_argument(&w, old_segments_name(m->x->segments.old));
    list_folders(m, &folders);
    if (folders.len > 0) {
        add_argument(&w, "--plugin-path");
        add_argument(&w, buf_text(&folders));
    }
    for (size_t i = 0; i < m->n_skips; i++) {
        snprintf(skips[i], sizeof skips[i], "%c:%llu",
                 m->skips[i].worker == LOCKFILE_DEFAULT ? 't' : 'a',
                 (unsigned long long)m->skips[i].number);
        add_argument(&w, "--skip");
        add_argument(&w, skips[i]);
    }
    rc = start_process(m, &w, err);
    buf_fini(&folders);
    return rc;
}

/* Starts the dispatcher by `how`, now or, if that fails for what may pass,
 * later. */
static int
start_or_retry(struct manager *m,
               int (*how)(struct manager *m, struct err *err), struct err *err)
{
    struct dispatcher_retry *r = &m->dispatcher_retry;
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
dispatcher_start(struct manager *m, struct err *err)
{
    exchange_base(&m->exchange, 0);
    send_space(m);
    return start_or_retry(m, start_session, err);
}

int
dispatcher_resume(struct manager *m, struct err *err)
{
    if (has_log(m))
        return start_or_retry(m, start_from_log, err);
    if (!m->exchange.based) /* of a new manager, which has sent the space */
        exchange_base(&m->exchange, 0);
    if (exchange_resume(&m->exchange, 0, NULL, NULL, err) != 0)
        return -1;
    m->phase = PHASE_STARTING;
    return start_or_retry(m, start_session, err);
}

/* A first dispatcher that was killed, since it could not be watched, may have
 * begun the log: then the next one goes on from there. */
void
dispatcher_retry(struct manager *m, int64_t now_ns)
{
    struct err err = {0};

    if (now_ns < dispatcher_deadline(m))
        return;
    m->dispatcher_retry.due = false;
    exchange_hold(&m->exchange);
    if (dispatcher_resume(m, &err) == 0)
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
dispatcher_deadline(const struct manager *m)
{
    return m->dispatcher_retry.due ? m->dispatcher_retry.at_ns : INT64_MAX;
}

/* ---- another dispatcher goes on ---- */

/* How much is sent again: frames, and suggestions that these ask for. */
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

/* Takes the ID of a dispatcher that goes on: what its log lacks is sent again.
 */
static void
take_resumed(struct manager *m, const struct frame *id)
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
        dispatcher_send_space(m);
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

/* The commands that its workers were at when it ended, as far as its lock file
 * tells. */
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

/* Says that the plugins were being set up, which they are, one after the other,
 * before the first command. */
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
dispatcher_blame(const struct manager *m, char *text, size_t size)
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

/* Whether the dispatcher has ended by its own decision, which it would only
 * repeat. */
static bool
is_decision(const struct manager *m, int status)
{
    static const int statuses[] = {0, 2, 3, 5, 6, 129, 130, 143};

    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i] == status)
            return true;
    return m->phase == PHASE_CLOSING && status >= 0;
}

/* Whether it was ended by one of the signals that stop a session, which the
 * manager is sent, too. */
static bool
is_told_to_stop(int status)
{
    return status == 128 + SIGHUP || status == 128 + SIGINT ||
           status == 128 + SIGTERM;
}

/* Whether it died before there was anything that another dispatcher could go on
 * with. */
static bool
dies_at_start(const struct manager *m, int signal)
{
    return m->phase == PHASE_STARTING && m->options->resume == NULL &&
           (signal == 0 || deaths_is_fault(signal));
}

static void
skip_command(struct manager *m, int worker, uint64_t number)
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
restart(struct manager *m)
{
    struct err err = {0};

    exchange_hold(&m->exchange);
    tail_close(&m->words);
    origin_release_again(&m->checkpoints, &m->by_number, m->folder.path);
    if (dispatcher_resume(m, &err) == 0)
        return true;
    progress_warn(&m->progress, "tunepipe: error: %s", err.text);
    return false;
}

/* Where our dispatcher was refused because another one has the log, waits for
 * that one's end: it is an earlier manager's, which was about to take the lock
 * when we looked for it, and which ends when its input does. */
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
    return supervisor_await_earlier(m->folder.path, &err) == 0 && restart(m);
}

/* Whether another dispatcher was started in the place of the one that died. */
static bool
start_again(struct manager *m, const struct supervised_end *end,
            const char *who, const uint64_t at[LOCKFILE_SLOTS])
{
    /* A plugin that ends the process by _exit() is at fault, too. */
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
        skip_command(m, worker, at[worker]);
        break;
    }
    if (!fault)
        scheduler_forget_refusals(
            &m->scheduler); /* a program's answers died with it */
    if (!restart(m))
        return false;
    publish_text(m, EVENT_DISPATCHER_RESTARTED, end->how, strlen(end->how));
    return true;
}

/* The process has ended and its words are read: starts another one, or ends the
 * experiment. */
static void
judge_end(struct manager *m)
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
    dispatcher_blame(m, who, sizeof who);
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

/* ---- what it says ---- */

#define WORDS_AT_ONCE \
    ((size_t)1        \
     << 20) /* bytes of standard error; a flood must not hold up the loop */
#define WORDS_SHOWN 2000

/* The database of results, where the configuration asks for it: that it cannot
 * be kept is told, and costs nothing else. */
static void
start_index(struct manager *m)
{
    struct err err = {0};

    if (m->x->index && experiment_folder_index(
                           &m->folder, m->launch.program_folder, &err) != 0)
        progress_warn(&m->progress, "tunepipe: warning: index: %s", err.text);
}

static void
take_initialized(struct manager *m, const struct frame *frame)
{
    if (m->exchange.held) {
        take_resumed(m, frame);
        if (m->recovered.resent == 0) /* nothing comes that needs them */
            checkpoints_settle(&m->checkpoints);
    } else if (m->phase == PHASE_STARTING)
        m->phase = PHASE_RUNNING;
    if (!m->outcome->initialized)
        start_index(m);
    m->outcome->initialized = true;
}

static void
take_trial(struct manager *m, const struct frame *frame)
{
    struct suggestion record;
    struct err err = {0};
    struct trial *t;
    bool resent = m->recovered.resent > 0;

    if (resent)
        m->recovered.resent--;
    if (suggestion_read(frame->payload, frame->len, &record, &err) != 0) {
        progress_warn(&m->progress, "tunepipe: error: a TR that is none: %s",
                      err.text);
        return;
    }
    lockstep_came(&m->lockstep);
    if (map_get(&m->taken, record.id, strlen(record.id)) != NULL) {
        scheduler_repeated(&m->scheduler); /* it was sent twice */
    } else if (scheduler_take(&m->scheduler)) {
        manager_taken(m, record.id);
        t = trial_of(m->n_trials++, frame->payload, frame->len, &record);
        if (t != NULL && !resent)
            publish_trial(m, EVENT_TRIAL_WAITING, t);
        if (t != NULL)
            running_take(m, t);
        else
            manager_end(m, MANAGER_UNABLE, "out of memory");
    } else if (!m->end_known) {
        progress_warn(&m->progress,
                      "tunepipe: warning: parameters %s came unasked, beyond "
                      "maxTrialNumber: not started",
                      record.id);
    }
    suggestion_fini(&record);
    if (resent && m->recovered.resent == 0)
        checkpoints_settle(&m->checkpoints);
}

/* NO: fewer trials come than were asked for.  Without a reason, as NNI's
 * dispatcher writes it, none will come any more. */
static void
take_no_more(struct manager *m, const struct frame *frame)
{
    struct json *doc =
        json_parse(frame->payload, frame->len, JSON_STRICT, NULL);
    const char *reason = "exhausted";
    uint64_t units = UINT64_MAX;
    struct jval v;

    if (doc != NULL && jval_get(json_root(doc), "reason", &v))
        jval_string(v, &reason, NULL);
    if (doc != NULL && jval_get(json_root(doc), "units", &v))
        jval_uint(v, &units);
    if (units == 0 && m->phase == PHASE_RUNNING && m->n_trials == 0) {
        dispatcher_send_space(m);
        json_free(doc);
        return;
    }
    lockstep_refused(&m->lockstep, strcmp(reason, "later") == 0, units);
    if (m->phase == PHASE_STARTING && (units == 0 || units == UINT64_MAX)) {
        manager_end(m, MANAGER_REFUSED,
                    "the dispatcher refused the search space; what it said is "
                    "in " FOLDER_DISPATCHER_LOG);
    } else if (strcmp(reason, "failed") == 0) {
        scheduler_refused(&m->scheduler, units);
        progress_warn(&m->progress,
                      "tunepipe: warning: the tuner failed to give parameters; "
                      "see %s/" FOLDER_DISPATCHER_LOG,
                      m->folder.path);
    } else if (strcmp(reason, "later") != 0) {
        scheduler_exhausted(&m->scheduler, units);
    }
    json_free(doc);
}

/* A dispatcher that goes on from its log may say it twice: the first reason to
 * end a trial stays. */
static void
take_kill(struct manager *m, const struct frame *frame)
{
    struct json *doc =
        json_parse(frame->payload, frame->len, JSON_STRICT, NULL);
    struct trial *t = NULL;
    const char *id;

    if (doc != NULL && jval_string(json_root(doc), &id, NULL))
        t = live_by_id(m, id);
    if (t != NULL)
        running_stop(m, t, STOP_ASSESSOR);
    else
        m->late.stops++;
    json_free(doc);
}

static void
release_checkpoints(struct manager *m, const char *id)
{
    uint64_t number;

    if (number_parse_u64(id, strlen(id), &number))
        checkpoints_release(&m->checkpoints, number,
                            live_by_number(m, number) == NULL);
}

/* DT: the dispatcher decides about a trial; about one that has ended only
 * whether its checkpoints are released. */
static void
decide(struct manager *m, const char *id, const char *decision)
{
    enum trial_stop stop = trial_stop_of(decision);
    struct trial *t = live_by_id(m, id);

    if (strcmp(decision, "release") == 0)
        release_checkpoints(m, id);
    else if (stop != STOP_PAUSE && stop != STOP_FINISH)
        progress_warn(&m->progress,
                      "tunepipe: warning: the dispatcher decided '%s' on a "
                      "trial, expected pause, finish or release",
                      decision);
    else if (t != NULL)
        running_stop(m, t, stop);
    else
        m->late.stops++;
}

static void
take_decision(struct manager *m, const struct frame *frame)
{
    struct json *doc =
        json_parse(frame->payload, frame->len, JSON_STRICT, NULL);
    const char *id, *decision;
    struct jval v;

    if (doc != NULL && jval_get(json_root(doc), "trial_job_id", &v) &&
        jval_string(v, &id, NULL) && jval_get(json_root(doc), "decision", &v) &&
        jval_string(v, &decision, NULL))
        decide(m, id, decision);
    json_free(doc);
}

/* The stop that an AK's decision stands for; that of an end, or a word that is
 * not known, stands for none. */
static enum trial_stop
stop_of_decision(const char *decision)
{
    static const struct {
        const char *word;
        enum trial_stop stop;
    } decisions[] = {{"stop", STOP_ASSESSOR},
                     {"pause", STOP_PAUSE},
                     {"finish", STOP_FINISH}};

    for (size_t i = 0; i < sizeof decisions / sizeof *decisions; i++)
        if (strcmp(decisions[i].word, decision) == 0)
            return decisions[i].stop;
    return STOP_NOT;
}

/* Answers the report that was judged: its trial goes on, or ends.  A KI or DT
 * has told of its stop before; that of the tuner's counts here once more. */
static void
take_verdict(struct manager *m, const char *id, uint64_t sequence,
             enum trial_stop stop)
{
    struct trial *t = live_by_id(m, id);

    if (t != NULL && (stop == STOP_PAUSE || stop == STOP_FINISH))
        running_stop(m, t, stop);
    t = live_by_id(m, id); /* if it has not ended by that */
    if (t != NULL)
        unanswered_answer(&t->unanswered, sequence,
                          stop == STOP_NOT        ? REPORT_GO
                          : stop == STOP_ASSESSOR ? REPORT_STOP
                                                  : trial_answer(t));
}

static void
acknowledge(struct manager *m, const char *id, struct jval root)
{
    const char *decision = "";
    uint64_t sequence = 0;
    struct jval v;
    bool end;

    if (jval_get(root, "decision", &v))
        jval_string(v, &decision, NULL);
    end = strcmp(decision, "end") == 0;
    if (!end && (!jval_get(root, "sequence", &v) || !jval_uint(v, &sequence)))
        return;
    if (!end)
        take_verdict(m, id, sequence, stop_of_decision(decision));
    m->delivery->answered(m, id, end, sequence);
}

/* AK: what waits for this answer goes on. */
static void
take_acknowledged(struct manager *m, const struct frame *frame)
{
    struct json *doc =
        json_parse(frame->payload, frame->len, JSON_STRICT, NULL);
    const char *id;
    struct jval v;

    /* In lock step an attempt that is interrupted now is made again by the next
     * manager, and the dispatcher answers that one again. */
    if (doc != NULL && !(m->delivery->repeats && m->interrupting) &&
        jval_get(json_root(doc), "trial_job_id", &v) &&
        jval_string(v, &id, NULL))
        acknowledge(m, id, json_root(doc));
    json_free(doc);
}

/* Shows a text of the dispatcher's, whatever bytes it holds. */
static void
warn_shown(struct manager *m, const char *before, const char *text, size_t len)
{
    struct buf line;

    buf_init(&line, 4 * WORDS_SHOWN);
    visible_text(&line, text, len, WORDS_SHOWN);
    progress_warn(&m->progress, "%s%s", before, buf_text(&line));
    buf_fini(&line);
}

static void
take_error(struct manager *m, const struct frame *frame)
{
    warn_shown(m, "tunepipe: error: the dispatcher says: ", frame->payload,
               frame->len);
}

static void
take_frame(void *ctx, const struct frame *frame)
{
    static const struct {
        enum command_code code;
        void (*take)(struct manager *m, const struct frame *frame);
    } takers[] = {
        {CMD_INITIALIZED, take_initialized},
        {CMD_NEW_TRIAL, take_trial},
        {CMD_NO_MORE, take_no_more},
        {CMD_KILL_TRIAL, take_kill},
        {CMD_DECIDE_TRIAL, take_decision},
        {CMD_ACKNOWLEDGE, take_acknowledged},
        {CMD_ERROR, take_error},
    };
    struct manager *m = ctx;

    for (size_t i = 0; i < sizeof takers / sizeof *takers; i++)
        if (strcmp(command_info(takers[i].code)->code, frame->code) == 0) {
            takers[i].take(m, frame);
            return;
        }
    progress_warn(&m->progress,
                  "tunepipe: warning: the dispatcher sent '%s', which no "
                  "manager expects",
                  frame->code);
}

void
dispatcher_read_frames(struct manager *m)
{
    struct err err = {0};
    int rc;

    if (m->exchange.from < 0)
        return; /* the end of the process came first */
    rc = exchange_read(&m->exchange, take_frame, m, &err);
    if (rc == 1)
        return;
    manager_unwatch(m, m->exchange.from);
    close(m->exchange.from);
    m->exchange.from = -1;
    if (rc < 0) {
        m->dispatcher_given_up = true;
        manager_end(m, MANAGER_DISPATCHER,
                    "the dispatcher's stream is broken: "
                    "%s",
                    err.text);
        manager_signal_dispatcher(m, SIGKILL);
    } else if (m->phase != PHASE_CLOSING) {
        /* It closed its output and can say no more; its end tells why. */
        manager_signal_dispatcher(m, SIGTERM);
    }
}

/* Writes a line of the dispatcher's standard error into the file, and shows it
 * where it is an error or a warning. */
static void
take_line(void *ctx, const char *line, size_t len, bool too_long)
{
    struct manager *m = ctx;

    (void)too_long;
    experiment_folder_add_log(&m->folder, line, len, NULL);
    if (strstr(line, "error: ") != NULL)
        publish_text(m, EVENT_PLUGIN_ERROR, line, len);
    if (m->progress.debug || strstr(line, "error: ") != NULL ||
        strstr(line, "warning: ") != NULL)
        warn_shown(m, "", line, len);
}

void
dispatcher_read_stderr(struct manager *m)
{
    if (tail_read(&m->words, WORDS_AT_ONCE, take_line, m, NULL) < 0 ||
        m->words.ended)
        manager_unwatch(m, m->words.fd);
}

void
dispatcher_exited(struct manager *m)
{
    if (m->exchange.from >= 0)
        dispatcher_read_frames(m); /* what it said before it died */
    while (tail_read(&m->words, WORDS_AT_ONCE, take_line, m, NULL) > 0)
        continue;
    tail_rest(&m->words, take_line, m);
    manager_unwatch(m, m->words.fd);
    judge_end(m);
}

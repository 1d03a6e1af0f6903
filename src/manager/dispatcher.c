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
#include "manager/checkpoints.h"
#include "manager/custom.h"
#include "manager/delivery.h"
#include "manager/exchange.h"
#include "manager/experiment_end.h"
#include "manager/experiment_folder.h"
#include "manager/imports.h"
#include "manager/launch.h"
#include "manager/live.h"
#include "manager/origin.h"
#include "manager/parameters.h"
#include "manager/placing.h"
#include "manager/progress.h"
#include "manager/publish.h"
#include "manager/running.h"
#include "manager/scheduler.h"
#include "manager/sources.h"
#include "manager/starting.h"
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
#define ASK_MAX 65536          /* a dispatcher refuses more */
#define CLOSING_NS 15000000000 /* for the dispatcher, from TE to its end */
#define EXIT_REFUSED 3 /* as in PROTOCOL.md: the configuration is wrong, */
#define EXIT_LOG 5     /* or the log */
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
watch_process(struct dispatcher *d, const struct supervised_pipes *pipes,
              struct err *err)
{
    if (sources_watch(d->sources, pipes->from, EPOLLIN, SOURCE_FRAMES_IN) ==
            0 &&
        sources_watch(d->sources, pipes->words, EPOLLIN, SOURCE_WORDS) == 0 &&
        sources_watch(d->sources, d->process.pidfd, EPOLLIN,
                      SOURCE_DISPATCHER) == 0)
        return 0;
    err_errno(err, ERR_SYSTEM, "cannot watch the dispatcher");
    supervisor_close(&d->process);
    close(pipes->to);
    close(pipes->from);
    close(pipes->words);
    return -1;
}

/* Starts `tunepipe dispatch` with these words, and with those that a new
 * session and one that goes on share.  -1: none runs. */
static int
start_process(struct dispatcher *d, struct arguments *w, struct err *err)
{
    struct supervised_pipes pipes;
    int64_t grace_ms = d->x->grace_ms;
    char grace[32];

    if (grace_ms < GRACE_MIN_MS)
        grace_ms = GRACE_MIN_MS;
    if (grace_ms > GRACE_MAX_MS)
        grace_ms = GRACE_MAX_MS;
    snprintf(grace, sizeof grace, "%.3fs", (double)grace_ms / 1e3);
    add_argument(w, "--grace");
    add_argument(w, grace);
    add_argument(w, "--dir");
    add_argument(w, d->folder->path);
    if (supervisor_start(&d->process, d->options->dispatcher,
                         d->launch->program_folder, w->argv, &pipes,
                         err) != 0 ||
        watch_process(d, &pipes, err) != 0)
        return -1;
    supervisor_record(&d->process, d->folder->path);
    d->writable_asked = false;
    exchange_open(d->exchange, pipes.to, pipes.from);
    tail_attach(&d->words, pipes.words, 65536);
    return 0;
}

static void
send_space(struct dispatcher *d)
{
    struct err err = {0};

    exchange_send(d->exchange, "IN", d->x->search_space,
                  strlen(d->x->search_space));
    if (imports_send_kept(d->exchange, d->folder->path, 0, &err) != 0)
        progress_warn(d->progress, "tunepipe: warning: not imported: %s",
                      err.text);
}

void
dispatcher_send_space(struct dispatcher *d)
{
    d->phase = PHASE_STARTING;
    send_space(d);
}

static int
start_session(struct dispatcher *d, struct err *err)
{
    struct arguments w = {.n = 0};
    char seed[32];

    snprintf(seed, sizeof seed, "%llu", (unsigned long long)d->folder->seed);
    add_argument(&w, "--config");
    add_argument(&w, d->x->file);
    add_argument(&w, "--seed");
    add_argument(&w, seed);
    add_argument(&w, "--early-stopped");
    add_argument(&w, early_stopped_name(d->x->early_stopped));
    if (d->x->objectives_json != NULL) {
        add_argument(&w, "--objectives");
        add_argument(&w, d->x->objectives_json);
    } else {
        add_argument(&w, "--direction");
        add_argument(&w, d->x->minimize ? "minimize" : "maximize");
    }
    if (d->x->assessor.objective != NULL) {
        add_argument(&w, "--assessor-objective");
        add_argument(&w, d->x->assessor.objective);
    }
    add_argument(&w, "--extensions");
    if (d->x->tuner_overridden) {
        add_argument(&w, "--tuner");
        add_argument(&w, algorithm_plugin(&d->x->tuner));
        add_argument(&w, "--tuner-args");
        add_argument(&w, d->x->tuner.args);
    }
    return start_process(d, &w, err);
}

/* Whether there is a log to go on from.  A log that was not begun shows that
 * the process died before it took anything from us.  What is wrong with one
 * that cannot be read the dispatcher will say. */
static bool
has_log(const struct dispatcher *d)
{
    struct log_reader *log = log_open_in(d->folder->path, 0, NULL);
    bool begun = log == NULL || log_is_begun(log);

    log_close(log);
    return begun;
}

static void
add_folder(struct buf *out, const struct algorithm *a)
{
    const char *file = algorithm_plugin(a);
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
list_folders(const struct dispatcher *d, struct buf *out)
{
    buf_init(out, FOLDERS_MAX);
    add_folder(out, &d->x->tuner);
    add_folder(out, &d->x->assessor);
    for (size_t i = 0; i < d->x->n_filters; i++)
        add_folder(out, &d->x->filters[i]);
}

static int
start_from_log(struct dispatcher *d, struct err *err)
{
    char skips[DISPATCHER_SKIPS_MAX][32];
    struct buf folders;
    char sync[SYNC_TEXT_MAX], size[24];
    struct arguments w = {.n = 0};
    int rc;

    add_argument(&w, "--resume");
    sync_policy_write(&d->x->sync, sync);
    add_argument(&w, "--sync"); /* not in the log: no answer depends on it */
    add_argument(&w, sync);
    snprintf(size, sizeof size, "%" PRIu64, d->x->segments.size);
    add_argument(&w, "--segment-size");
    add_argument(&w, size);
    add_argument(&w, "--old-segments");
    add_argument(&w, old_segments_name(d->x->segments.old));
    list_folders(d, &folders);
    if (folders.len > 0) {
        add_argument(&w, "--plugin-path");
        add_argument(&w, buf_text(&folders));
    }
    for (size_t i = 0; i < d->n_skips; i++) {
        snprintf(skips[i], sizeof skips[i], "%c:%llu",
                 d->skips[i].worker == LOCKFILE_DEFAULT ? 't' : 'a',
                 (unsigned long long)d->skips[i].number);
        add_argument(&w, "--skip");
        add_argument(&w, skips[i]);
    }
    rc = start_process(d, &w, err);
    buf_fini(&folders);
    return rc;
}

/* Starts the dispatcher by `how`, now or, if that fails for what may pass,
 * later. */
static int
start_or_retry(struct dispatcher *d,
               int (*how)(struct dispatcher *d, struct err *err),
               struct err *err)
{
    struct dispatcher_retry *r = &d->retry;
    int64_t now = clock_monotonic_ns();

    if (how(d, err) == 0) {
        r->failures = 0;
        d->closing_deadline_ns = now + CLOSING_NS; /* if it is closing */
        return 0;
    }
    if (err->code != ERR_MEMORY && !errno_passes(err->number))
        return -1;
    if (r->failures == 0)
        r->until_ns = now + d->x->place_ms * (int64_t)1000000;
    if (now >= r->until_ns)
        return -1;
    if (r->failures == 0)
        progress_warn(d->progress,
                      "tunepipe: warning: the dispatcher cannot be started "
                      "now: %s; tried again for %.0f s (placeTimeout)",
                      err->text, (double)d->x->place_ms / 1e3);
    r->due = true;
    r->at_ns = now + placing_pause_ns(r->failures++);
    return 0;
}

int
dispatcher_start(struct dispatcher *d, struct err *err)
{
    exchange_base(d->exchange, 0);
    send_space(d);
    return start_or_retry(d, start_session, err);
}

int
dispatcher_resume(struct dispatcher *d, struct err *err)
{
    if (has_log(d))
        return start_or_retry(d, start_from_log, err);
    if (!d->exchange->based) /* of a new manager, which has sent the space */
        exchange_base(d->exchange, 0);
    if (exchange_resume(d->exchange, 0, NULL, NULL, err) != 0)
        return -1;
    d->phase = PHASE_STARTING;
    return start_or_retry(d, start_session, err);
}

/* A first dispatcher that was killed, since it could not be watched, may have
 * begun the log: then the next one goes on from there. */
static void
retry(struct dispatcher *d)
{
    struct err err = {0};

    d->retry.due = false;
    exchange_hold(d->exchange);
    if (dispatcher_resume(d, &err) == 0)
        return;
    if (d->end->known)
        progress_warn(d->progress,
                      "tunepipe: warning: the dispatcher cannot be started: %s",
                      err.text);
    experiment_ends(d->end, MANAGER_DISPATCHER,
                    "the dispatcher cannot be started: %s", err.text);
    running_interrupt_all(d->running);
}

void
dispatcher_expire(struct dispatcher *d, int64_t now_ns)
{
    if (now_ns < dispatcher_deadline(d))
        return;
    if (d->retry.due) {
        retry(d);
        return;
    }
    d->closing_deadline_ns = INT64_MAX;
    d->given_up = true;
    progress_warn(d->progress,
                  "tunepipe: warning: the dispatcher does not end: killed");
    dispatcher_signal(d, SIGKILL);
}

int64_t
dispatcher_deadline(const struct dispatcher *d)
{
    if (d->retry.due)
        return d->retry.at_ns;
    return d->phase == PHASE_CLOSING ? d->closing_deadline_ns : INT64_MAX;
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

/* The search space is accepted. */
static void
accepted(struct dispatcher *d)
{
    d->phase = PHASE_RUNNING;
    custom_begin_rest(d->custom);
}

/* The dispatcher that goes on has no search space, though one was sent; nor
 * does it know the trials that it was told of without one. */
static void
send_lost_space(struct dispatcher *d)
{
    dispatcher_send_space(d);
    custom_tell_again(d->custom);
}

static void
say_resumed(struct dispatcher *d, uint64_t last, uint64_t resent,
            uint64_t derived, const struct resent *again)
{
    progress_say(d->progress,
                 "tunepipe: the dispatcher goes on from its log of %llu "
                 "commands; sent again: %llu, suggestions repeated: %llu, "
                 "answers derived: %llu",
                 (unsigned long long)last, (unsigned long long)again->frames,
                 (unsigned long long)resent, (unsigned long long)derived);
}

/* Takes the ID of a dispatcher that goes on: what its log lacks is sent again.
 */
static void
take_resumed(struct dispatcher *d, const struct frame *id)
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
    if (d->options->resume != NULL && !d->end->outcome->initialized)
        d->resent = resent;
    refused = last > 0 && jval_get(root, "space", &v);
    json_free(doc);
    if (exchange_resume(d->exchange, last, count_resent, &again, &err) != 0) {
        d->given_up = true;
        experiment_ends(d->end, MANAGER_DISPATCHER,
                        "the dispatcher cannot go on: %s", err.text);
        dispatcher_signal(d, SIGTERM);
        running_interrupt_all(d->running);
        return;
    }
    if (last > d->log_last)
        deaths_progress(&d->deaths);
    d->log_last = last;
    d->n_skips = 0;
    scheduler_owes(d->scheduler, owed + resent + again.asked);
    d->delivery->ops->resumed(d->delivery, last, owed, resent, again.asked);
    if (refused)
        send_lost_space(d);
    else if (d->phase == PHASE_STARTING && last > 0)
        accepted(d);
    if (last > 0)
        say_resumed(d, last, resent, derived, &again);
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
read_slots(const struct dispatcher *d, uint64_t out[LOCKFILE_SLOTS])
{
    struct lockfile lock;
    bool good = lockfile_read(d->folder->path, &lock);

    for (int i = 0; i < LOCKFILE_SLOTS; i++)
        out[i] = good ? lock.slots[i] : 0;
}

static void
name_worker(const struct dispatcher *d, int worker, char *text, size_t size)
{
    if (worker == LOCKFILE_DEFAULT)
        snprintf(text, size, "tuner %.200s%s", name_of(&d->x->tuner),
                 d->x->n_filters > 0 ? " (or a filter around it)" : "");
    else
        snprintf(text, size, "assessor %.200s", name_of(&d->x->assessor));
}

/* Says that the plugins were being set up, which they are, one after the other,
 * before the first command. */
static void
blame_start(const struct dispatcher *d, char *text, size_t size)
{
    const char *tuner = name_of(&d->x->tuner);
    const char *assessor = name_of(&d->x->assessor);

    if (assessor == NULL)
        snprintf(text, size, " while tuner %.200s was being set up", tuner);
    else
        snprintf(text, size,
                 " while tuner %.120s and assessor %.120s were being set up",
                 tuner, assessor);
}

void
dispatcher_blame(const struct dispatcher *d, char *text, size_t size)
{
    uint64_t at[LOCKFILE_SLOTS];
    char who[256], work[40];
    size_t len = 0;

    text[0] = '\0';
    read_slots(d, at);
    for (int i = 0; i < LOCKFILE_SLOTS; i++)
        if (at[i] != 0 && len < size) {
            name_worker(d, i, who, sizeof who);
            len += (size_t)snprintf(text + len, size - len, "%s %s was %s",
                                    len == 0 ? " while" : " and", who,
                                    supervisor_work(at[i], work, sizeof work));
        }
    if (text[0] == '\0' && d->phase == PHASE_STARTING)
        blame_start(d, text, size);
}

/* Whether the dispatcher has ended by its own decision, which it would only
 * repeat. */
static bool
is_decision(const struct dispatcher *d, int status)
{
    static const int statuses[] = {0, 2, 3, 5, 6, 129, 130, 143};

    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i] == status)
            return true;
    return d->phase == PHASE_CLOSING && status >= 0;
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
dies_at_start(const struct dispatcher *d, int signal)
{
    return d->phase == PHASE_STARTING && d->options->resume == NULL &&
           (signal == 0 || deaths_is_fault(signal));
}

static void
skip_command(struct dispatcher *d, int worker, uint64_t number)
{
    char who[256];

    name_worker(d, worker, who, sizeof who);
    progress_warn(d->progress,
                  "tunepipe: warning: %s kills the dispatcher at command %llu, "
                  "again and again: the command is skipped",
                  who, (unsigned long long)number);
    if (d->n_skips < DISPATCHER_SKIPS_MAX)
        d->skips[d->n_skips++] = (struct skip){worker, number};
}

static bool
restart(struct dispatcher *d)
{
    struct err err = {0};

    exchange_hold(d->exchange);
    tail_close(&d->words);
    origin_release_again(d->checkpoints, &d->live->by_number, d->folder->path);
    if (dispatcher_resume(d, &err) == 0)
        return true;
    progress_warn(d->progress, "tunepipe: error: %s", err.text);
    return false;
}

/* Where our dispatcher was refused because another one has the log, waits for
 * that one's end: it is an earlier manager's, which was about to take the lock
 * when we looked for it, and which ends when its input does. */
static bool
wait_for_another(struct dispatcher *d, int status)
{
    bool began = !d->exchange->held && d->phase != PHASE_STARTING;
    struct lockfile lock;
    struct err err = {0};

    if (status != EXIT_LOG || began || d->options->resume == NULL ||
        d->waited_for_another ||
        (lockfile_read(d->folder->path, &lock) &&
         supervisor_is_writer(&d->process, &lock)))
        return false;
    d->waited_for_another = true;
    return supervisor_await_earlier(d->folder->path, &err) == 0 && restart(d);
}

/* Whether another dispatcher was started in the place of the one that died. */
static bool
start_again(struct dispatcher *d, const struct supervised_end *end,
            const char *who, const uint64_t at[LOCKFILE_SLOTS])
{
    /* A plugin that ends the process by _exit() is at fault, too. */
    bool fault = end->signal == 0 || deaths_is_fault(end->signal);
    int worker = 0;

    switch (deaths_add(&d->deaths, fault, at, &worker)) {
    case DEATHS_OVER:
        return false;
    case DEATHS_RESTART:
        progress_warn(d->progress,
                      "tunepipe: warning: the dispatcher died (%s)%s: it is "
                      "started again from its log",
                      end->how, who);
        break;
    case DEATHS_SKIP:
        skip_command(d, worker, at[worker]);
        break;
    }
    if (!fault)
        scheduler_forget_refusals(
            d->scheduler); /* a program's answers died with it */
    if (!restart(d))
        return false;
    publish_text(d->publish, EVENT_DISPATCHER_RESTARTED, end->how,
                 strlen(end->how));
    return true;
}

/* The process has ended and its words are read: starts another one, or ends the
 * experiment. */
static void
judge_end(struct dispatcher *d)
{
    uint64_t at[LOCKFILE_SLOTS];
    struct supervised_end end;
    char who[300];
    int status;

    supervisor_end(&d->process, &end);
    sources_unwatch(d->sources, d->process.pidfd);
    supervisor_close(&d->process);
    d->end->outcome->dispatcher_status = status = end.status;
    if (d->phase == PHASE_CLOSING && status == 0)
        return;
    if (wait_for_another(d, status))
        return;
    read_slots(d, at);
    dispatcher_blame(d, who, sizeof who);
    if (!is_decision(d, status) && !dies_at_start(d, end.signal) &&
        !d->given_up && !deaths_repeat(&d->deaths, status, at) &&
        start_again(d, &end, who, at))
        return;
    if (d->phase == PHASE_CLOSING) {
        progress_warn(d->progress,
                      "tunepipe: warning: the dispatcher ended with %s%s",
                      end.how, who);
        return;
    }
    if (is_told_to_stop(status))
        experiment_ends(
            d->end, MANAGER_INTERRUPTED,
            "interrupted: the dispatcher was told to stop (signal %d)",
            status - 128);
    if (status == EXIT_REFUSED && d->phase == PHASE_STARTING)
        experiment_ends(d->end, MANAGER_CONFIG,
                        "the dispatcher refused the configuration%s", who);
    experiment_ends(
        d->end, MANAGER_DISPATCHER,
        "the dispatcher ended by itself (%s)%s; what it said is in " FOLDER_DISPATCHER_LOG,
        end.how, who);
    running_interrupt_all(d->running);
}

/* ---- what it says ---- */

#define WORDS_AT_ONCE \
    ((size_t)1        \
     << 20) /* bytes of standard error; a flood must not hold up the loop */
#define WORDS_SHOWN 2000

/* The database of results, where the configuration asks for it: that it cannot
 * be kept is told, and costs nothing else. */
static void
start_index(struct dispatcher *d)
{
    struct err err = {0};

    if (d->x->index && experiment_folder_index(
                           d->folder, d->launch->program_folder, &err) != 0)
        progress_warn(d->progress, "tunepipe: warning: index: %s", err.text);
}

static void
take_initialized(struct dispatcher *d, const struct frame *frame)
{
    if (d->exchange->held) {
        take_resumed(d, frame);
        if (d->resent == 0) /* nothing comes that needs them */
            checkpoints_settle(d->checkpoints);
    } else if (d->phase == PHASE_STARTING)
        accepted(d);
    if (!d->end->outcome->initialized)
        start_index(d);
    d->end->outcome->initialized = true;
}

static void
take_trial(struct dispatcher *d, const struct frame *frame)
{
    struct suggestion record;
    struct err err = {0};
    struct trial *t;
    bool resent = d->resent > 0;

    if (resent)
        d->resent--;
    if (suggestion_read(frame->payload, frame->len, &record, &err) != 0) {
        progress_warn(d->progress, "tunepipe: error: a TR that is none: %s",
                      err.text);
        return;
    }
    lockstep_came(&d->delivery->lockstep);
    if (live_knows_id(d->live, record.id, NULL)) {
        scheduler_repeated(d->scheduler); /* it was sent twice */
    } else if (scheduler_take(d->scheduler)) {
        t = trial_of(d->live->n_numbers, frame->payload, frame->len, &record);
        if (t != NULL && !resent)
            publish_trial(d->publish, EVENT_TRIAL_WAITING, t);
        if (t != NULL)
            starting_take(d->starting, t);
        else
            experiment_ends(d->end, MANAGER_UNABLE, "out of memory");
    } else if (!d->end->known) {
        progress_warn(d->progress,
                      "tunepipe: warning: parameters %s came unasked, beyond "
                      "maxTrialNumber: not started",
                      record.id);
    }
    suggestion_fini(&record);
    if (resent && d->resent == 0)
        checkpoints_settle(d->checkpoints);
}

/* NO: fewer trials come than were asked for.  Without a reason, as NNI's
 * dispatcher writes it, none will come any more. */
static void
take_no_more(struct dispatcher *d, const struct frame *frame)
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
    if (units == 0 && d->phase == PHASE_RUNNING &&
        d->live->n_numbers <= d->x->n_enqueued) { /* before any suggestion */
        send_lost_space(d);
        json_free(doc);
        return;
    }
    lockstep_refused(&d->delivery->lockstep, strcmp(reason, "later") == 0,
                     units);
    if (d->phase == PHASE_STARTING && (units == 0 || units == UINT64_MAX)) {
        experiment_ends(d->end, MANAGER_CONFIG,
                        "the dispatcher refused the search space");
    } else if (strcmp(reason, "failed") == 0) {
        scheduler_refused(d->scheduler, units);
        progress_warn(d->progress,
                      "tunepipe: warning: the tuner failed to give parameters; "
                      "see %s/" FOLDER_DISPATCHER_LOG,
                      d->folder->path);
    } else if (strcmp(reason, "later") != 0) {
        scheduler_exhausted(d->scheduler, units);
    }
    json_free(doc);
}

/* A dispatcher that goes on from its log may say it twice: the first reason to
 * end a trial stays. */
static void
take_kill(struct dispatcher *d, const struct frame *frame)
{
    struct json *doc =
        json_parse(frame->payload, frame->len, JSON_STRICT, NULL);
    struct trial *t = NULL;
    const char *id;

    if (doc != NULL && jval_string(json_root(doc), &id, NULL))
        t = live_by_id(d->live, id);
    if (t != NULL)
        running_stop(d->running, t, STOP_ASSESSOR);
    else
        d->late++;
    json_free(doc);
}

static void
release_checkpoints(struct dispatcher *d, const char *id)
{
    uint64_t number;

    if (number_parse_u64(id, strlen(id), &number))
        checkpoints_release(d->checkpoints, number,
                            live_by_number(d->live, number) == NULL);
}

/* DT: the dispatcher decides about a trial; about one that has ended only
 * whether its checkpoints are released. */
static void
decide(struct dispatcher *d, const char *id, const char *decision)
{
    enum trial_stop stop = trial_stop_of(decision);
    struct trial *t = live_by_id(d->live, id);

    if (strcmp(decision, "release") == 0)
        release_checkpoints(d, id);
    else if (stop != STOP_PAUSE && stop != STOP_FINISH)
        progress_warn(d->progress,
                      "tunepipe: warning: the dispatcher decided '%s' on a "
                      "trial, expected pause, finish or release",
                      decision);
    else if (t != NULL)
        running_stop(d->running, t, stop);
    else
        d->late++;
}

static void
take_decision(struct dispatcher *d, const struct frame *frame)
{
    struct json *doc =
        json_parse(frame->payload, frame->len, JSON_STRICT, NULL);
    const char *id, *decision;
    struct jval v;

    if (doc != NULL && jval_get(json_root(doc), "trial_job_id", &v) &&
        jval_string(v, &id, NULL) && jval_get(json_root(doc), "decision", &v) &&
        jval_string(v, &decision, NULL))
        decide(d, id, decision);
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
take_verdict(struct dispatcher *d, const char *id, uint64_t sequence,
             enum trial_stop stop)
{
    struct trial *t = live_by_id(d->live, id);

    if (t != NULL && (stop == STOP_PAUSE || stop == STOP_FINISH))
        running_stop(d->running, t, stop);
    t = live_by_id(d->live, id); /* if it has not ended by that */
    if (t != NULL)
        unanswered_answer(&t->unanswered, sequence,
                          stop == STOP_NOT        ? REPORT_GO
                          : stop == STOP_ASSESSOR ? REPORT_STOP
                                                  : trial_answer(t));
}

static void
acknowledge(struct dispatcher *d, const char *id, struct jval root)
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
        take_verdict(d, id, sequence, stop_of_decision(decision));
    d->delivery->ops->answered(d->delivery, id, end, sequence);
}

/* AK: what waits for this answer goes on. */
static void
take_acknowledged(struct dispatcher *d, const struct frame *frame)
{
    struct json *doc =
        json_parse(frame->payload, frame->len, JSON_STRICT, NULL);
    const char *id;
    struct jval v;

    /* In lock step an attempt that is interrupted now is made again by the next
     * manager, and the dispatcher answers that one again. */
    if (doc != NULL && !(d->delivery->ops->repeats && d->end->interrupting) &&
        jval_get(json_root(doc), "trial_job_id", &v) &&
        jval_string(v, &id, NULL))
        acknowledge(d, id, json_root(doc));
    json_free(doc);
}

/* Shows a text of the dispatcher's, whatever bytes it holds. */
static void
warn_shown(struct dispatcher *d, const char *before, const char *text,
           size_t len)
{
    struct buf line;

    buf_init(&line, 4 * WORDS_SHOWN);
    visible_text(&line, text, len, WORDS_SHOWN);
    progress_warn(d->progress, "%s%s", before, buf_text(&line));
    buf_fini(&line);
}

static void
take_error(struct dispatcher *d, const struct frame *frame)
{
    warn_shown(d, "tunepipe: error: the dispatcher says: ", frame->payload,
               frame->len);
}

static void
take_frame(void *ctx, const struct frame *frame)
{
    static const struct {
        enum command_code code;
        void (*take)(struct dispatcher *d, const struct frame *frame);
    } takers[] = {
        {CMD_INITIALIZED, take_initialized},
        {CMD_NEW_TRIAL, take_trial},
        {CMD_NO_MORE, take_no_more},
        {CMD_KILL_TRIAL, take_kill},
        {CMD_DECIDE_TRIAL, take_decision},
        {CMD_ACKNOWLEDGE, take_acknowledged},
        {CMD_ERROR, take_error},
    };
    struct dispatcher *d = ctx;

    for (size_t i = 0; i < sizeof takers / sizeof *takers; i++)
        if (strcmp(command_info(takers[i].code)->code, frame->code) == 0) {
            takers[i].take(d, frame);
            return;
        }
    progress_warn(d->progress,
                  "tunepipe: warning: the dispatcher sent '%s', which no "
                  "manager expects",
                  frame->code);
}

void
dispatcher_read_frames(struct dispatcher *d)
{
    struct err err = {0};
    int rc;

    if (d->exchange->from < 0)
        return; /* the end of the process came first */
    rc = exchange_read(d->exchange, take_frame, d, &err);
    if (rc == 1)
        return;
    sources_unwatch(d->sources, d->exchange->from);
    close(d->exchange->from);
    d->exchange->from = -1;
    if (rc < 0) {
        d->given_up = true;
        experiment_ends(d->end, MANAGER_DISPATCHER,
                        "the dispatcher's stream is broken: "
                        "%s",
                        err.text);
        dispatcher_signal(d, SIGKILL);
    } else if (d->phase != PHASE_CLOSING) {
        /* It closed its output and can say no more; its end tells why. */
        dispatcher_signal(d, SIGTERM);
    }
}

bool
dispatcher_shows(const char *line)
{
    return strstr(line, "error: ") != NULL || strstr(line, "warning: ") != NULL;
}

/* Whoever has begun a study waits until it can be asked: he is told now that it
 * cannot be, and may begin it again. */
static void
end_without_room(struct dispatcher *d, const char *line)
{
    static const char mark[] = "warning: ";
    const char *trouble = strstr(line, mark);

    if (trouble == NULL || strstr(line, LOG_WAITS) == NULL ||
        d->phase != PHASE_STARTING || d->options->ready == NULL)
        return;
    trouble += sizeof mark - 1;
    experiment_ends(d->end, MANAGER_UNABLE, "%s: the study cannot begin: %.*s",
                    d->folder->path, (int)strcspn(trouble, ";"), trouble);
    dispatcher_signal(d, SIGTERM);
}

/* Writes a line of the dispatcher's standard error into the file, and shows it
 * where it is an error or a warning. */
static void
take_line(void *ctx, const char *line, size_t len, bool too_long)
{
    struct dispatcher *d = ctx;

    (void)too_long;
    experiment_folder_add_log(d->folder, line, len, NULL);
    if (strstr(line, "error: ") != NULL)
        publish_text(d->publish, EVENT_PLUGIN_ERROR, line, len);
    if (d->progress->debug || dispatcher_shows(line))
        warn_shown(d, "", line, len);
    end_without_room(d, line);
}

void
dispatcher_read_stderr(struct dispatcher *d)
{
    if (tail_read(&d->words, WORDS_AT_ONCE, take_line, d, NULL) < 0 ||
        d->words.ended)
        sources_unwatch(d->sources, d->words.fd);
}

void
dispatcher_exited(struct dispatcher *d)
{
    if (d->exchange->from >= 0)
        dispatcher_read_frames(d); /* what it said before it died */
    while (tail_read(&d->words, WORDS_AT_ONCE, take_line, d, NULL) > 0)
        continue;
    tail_rest(&d->words, take_line, d);
    sources_unwatch(d->sources, d->words.fd);
    judge_end(d);
}

/* ---- what it is told ---- */

uint64_t
dispatcher_ask(struct dispatcher *d)
{
    uint64_t n = scheduler_wants(d->scheduler);
    char text[32];

    if (d->phase != PHASE_RUNNING || d->exchange->held || n == 0)
        return 0;
    if (n > ASK_MAX)
        n = ASK_MAX; /* the rest with the next round */
    exchange_plan(d->exchange, d->scheduler->max_trials);
    snprintf(text, sizeof text, "%llu", (unsigned long long)n);
    exchange_send(d->exchange, "GE", text, strlen(text));
    scheduler_asked(d->scheduler, n);
    return n;
}

void
dispatcher_flush(struct dispatcher *d)
{
    int fd = d->exchange->to;
    struct err err = {0};
    bool wanted;

    if (fd < 0 || d->exchange->held)
        return;
    if (exchange_flush(d->exchange, &err) != 0) {
        d->writable_asked = false; /* closing took it out of epoll */
        return;                    /* the dispatcher's end tells why */
    }
    wanted = exchange_pending(d->exchange) > 0;
    if (d->phase == PHASE_CLOSING && !wanted) { /* TE was the last word */
        sources_unwatch(d->sources, fd);
        exchange_close_to(d->exchange);
        return;
    }
    if (wanted && !d->writable_asked) /* what fails is asked next turn */
        d->writable_asked =
            sources_watch(d->sources, fd, EPOLLOUT, SOURCE_FRAMES_OUT) == 0;
    if (!wanted && d->writable_asked) {
        sources_unwatch(d->sources, fd);
        d->writable_asked = false;
    }
}

void
dispatcher_signal(struct dispatcher *d, int sig)
{
    supervisor_signal(&d->process, sig);
}

void
dispatcher_close(struct dispatcher *d)
{
    d->phase = PHASE_CLOSING;
    d->retry.due = false; /* what it is not told `resume` tells */
    d->closing_deadline_ns = clock_monotonic_ns() + CLOSING_NS;
    exchange_send(d->exchange, "TE", "", 0);
}

void
dispatcher_give_up(struct dispatcher *d, int sig)
{
    d->given_up = true;
    d->retry.due = false;
    dispatcher_signal(d, sig);
}

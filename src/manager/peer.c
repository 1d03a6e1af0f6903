/* SPDX-License-Identifier: MIT */
/* DESIGN.  A dispatcher that dies is started again at once, with --resume: it
 * rebuilds itself from its log.  Meanwhile trials go on, and what is to be
 * told waits in the exchange.  Its first frame tells how many commands its log
 * holds; from there on all is sent again, and what was asked for and is not
 * on the wire again is forgotten. */
#include "manager/peer.h"

#include "command.h"
#include "config/experiment.h"
#include "core/clock.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/number.h"
#include "history/history.h"
#include "json.h"
#include "manager/deaths.h"
#include "manager/imports.h"
#include "manager/state.h"
#include "manager/stepping.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define COMMAND_LOG "command.log"
#define WORDS_MAX (32 + 2 * DISPATCHER_SKIPS_MAX)
#define FOLDERS_MAX ((size_t)1 << 20)

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

static int
launch(struct manager *m, struct words *w, struct err *err)
{
    struct dispatcher_pipes pipes;

    if (launch_dispatcher((char *const *)w->argv, &pipes, err) != 0)
        return -1;
    peer_record(m, pipes.pid);
    m->dispatcher_pid = pipes.pid;
    m->dispatcher_fd = pipes.pidfd;
    m->writable_asked = false;
    exchange_open(&m->exchange, pipes.to, pipes.from);
    tail_attach(&m->words, pipes.errors, 65536);
    if (manager_watch(m, pipes.from, EPOLLIN, SOURCE_FRAMES_IN) != 0 ||
        manager_watch(m, pipes.errors, EPOLLIN, SOURCE_WORDS) != 0 ||
        manager_watch(m, pipes.pidfd, EPOLLIN, SOURCE_DISPATCHER) != 0)
        return err_errno(err, ERR_SYSTEM, "cannot watch the dispatcher");
    return 0;
}

/* The words that both kinds of start share; *own is to be freed. */
static int
begin(struct manager *m, struct words *w, char **own, struct err *err)
{
    const char *program = m->options->dispatcher;

    *own = NULL;
    *w = (struct words){.n = 0};
    if (program == NULL)
        program = *own = file_join(m->launch.program_folder, "tunepipe");
    if (program == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    add(w, program);
    add(w, "dispatch");
    add(w, "--in-fd");
    add(w, "0");
    add(w, "--out-fd");
    add(w, "1");
    add(w, "--dir");
    add(w, m->folder.path);
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
    struct words w;
    char seed[32], *own;
    int rc;

    if (begin(m, &w, &own, err) != 0)
        return -1;
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
    rc = launch(m, &w, err);
    free(own);
    return rc;
}

int
peer_start(struct manager *m, struct err *err)
{
    exchange_base(&m->exchange, 0);
    send_space(m);
    return start(m, err);
}

/* Whether there is one with anything in it.  Else the process died before its
 * head was there, and nothing was ever taken from us. */
static bool
has_log(const struct manager *m)
{
    char *path = file_join(m->folder.path, COMMAND_LOG);
    bool there = path == NULL || access(path, F_OK) == 0;
    struct history_reader *h;
    struct history_fact fact;

    free(path);
    if (!there || m->outcome->initialized)
        return there;
    h = history_open(m->folder.path, NULL);
    there = h == NULL || history_next(h, &fact, NULL) != 0;
    history_close(h);
    return there;
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
    struct words w;
    char *own;
    int rc;

    if (begin(m, &w, &own, err) != 0)
        return -1;
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
    free(own);
    return rc;
}

int
peer_resume(struct manager *m, struct err *err)
{
    if (has_log(m))
        return resume(m, err);
    if (!m->exchange.based) /* a new manager's; it has sent the space */
        exchange_base(&m->exchange, 0);
    if (exchange_resume(&m->exchange, 0, NULL, NULL, err) != 0)
        return -1;
    m->phase = PHASE_STARTING;
    return start(m, err);
}

struct again {
    uint64_t frames, asked;
};

static void
count_again(void *ctx, const struct frame *frame)
{
    struct again *again = ctx;
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
            const struct again *again)
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
    struct again again = {0};
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
    if (exchange_resume(&m->exchange, last, count_again, &again, &err) != 0) {
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
    stepping_resumed(m, last, owed, resent, again.asked);
    if (m->phase == PHASE_STARTING && last > 0)
        m->phase = PHASE_RUNNING;
    if (refused)
        peer_ask_again(m);
    if (last > 0)
        say_resumed(m, last, resent, derived, &again);
}

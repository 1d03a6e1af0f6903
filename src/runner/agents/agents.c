/* SPDX-License-Identifier: MIT */
/* DESIGN.  A trial's token is the path of its phase's folder within the
 * experiment's: no two attempts have the same.  So whatever a lost agent says
 * of one that was begun again elsewhere has no run any more, and is not heard.
 *
 * Where agents do not see the experiment's folder a trial's files go to its
 * agent before it is begun, and what the agent sends is put into the same
 * folder, as if the trial had written it there.  That it is over is
 * acknowledged when its reports are on stable storage.
 *
 * What the manager answers to a trial it appends to TRIAL_ANSWERED, which is
 * watched, and sent on from where it was read last. */
#include "runner/agents/agents.h"

#include "config/cluster.h"
#include "config/wishes.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
#include "core/filesystem.h"
#include "core/passing.h"
#include "runner/changes.h"
#include "runner/machines.h"
#include "trial/checkpoint.h"
#include "trial/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define EVENTS_MAX 64
#define ORDER_MAX ((size_t)2 << 20)
#define ORPHAN_MS                                              \
    15000 /* a wrapper ends its trial so long behind its agent \
           */
#define DEVICES_BYTES 8192 /* that are added to it */
#define AGAIN_BYTES 2048
#define FAR_MS 10000 /* so late a file server's client may see growth */
#define NS_PER_MS INT64_C(1000000)

enum stage {
    WAITS,    /* for an agent */
    SOUGHT,   /* an earlier manager had it begun; which agent has it? */
    GIVEN,    /* to one */
    ORPHANED, /* which is gone */
    OVER
};

struct piece {
    struct run base;
    struct link link, news;
    char *folder, *home, *token;
    char *saving, *restore; /* where agents do not see them; NULL: none */
    struct buf order;       /* what an agent is told to begin it */
    struct agents_agent *at;
    uint64_t devices; /* of that, a bit each */
    enum stage stage;
    bool watched, stopped, seen;
    unsigned tells;   /* of enum run_news, bits */
    int watch;        /* of the answers to it; -1: there are none yet */
    off_t answered;   /* that were sent */
    int64_t grown_ns; /* when it was said last that its reports have */
    int64_t until_ns; /* ORPHANED: it can run no longer */
    char how[16];     /* it is over; "": by no agent's word */
    char *text;
    char why[256], place[96], node[64], unfit[200];
    bool failed; /* its machine has */
};

static struct agents *
agents_of(const struct run *run)
{
    return (struct agents *)run->runner;
}

/* ---- news ---- */

static void
tell(struct piece *p, enum run_news news)
{
    struct agents *a = agents_of(&p->base);

    p->tells |= 1u << news;
    if (p->watched && p->news.in == NULL)
        list_add(&a->news, NULL, &p->news, p);
    wake_signal(&a->wake);
}

static bool
tells(struct piece *p, enum run_news news)
{
    bool so = p->tells & 1u << news;

    if (so)
        p->base.news = news;
    p->tells &= ~(1u << news);
    return so;
}

struct run *
agents_next(struct agents *a)
{
    struct piece *p;

    if (a->news.first == NULL)
        return NULL;
    p = a->news.first->of;
    if (!tells(p, RUN_BEGUN) && !tells(p, RUN_FILES))
        tells(p, RUN_ENDED);
    if (p->tells == 0)
        list_remove(&p->news);
    if (a->news.first != NULL)
        wake_signal(&a->wake);
    return &p->base;
}

/* ---- whose a trial is ---- */

static void
set_stage(struct piece *p, enum stage stage)
{
    struct agents *a = agents_of(&p->base);

    a->waiting += (size_t)(stage == WAITS) - (size_t)(p->stage == WAITS);
    a->sought += (size_t)(stage == SOUGHT) - (size_t)(p->stage == SOUGHT);
    p->stage = stage;
}

static void
take_from(struct piece *p)
{
    if (p->at == NULL)
        return;
    p->at->used--;
    p->at->devices_used &= ~p->devices;
    p->devices = 0;
    p->at = NULL;
}

static void
over(struct piece *p)
{
    take_from(p);
    set_stage(p, OVER);
    tell(p, RUN_ENDED);
}

static void
belongs_to(struct piece *p, struct agents_agent *g)
{
    if (p->at != g) {
        take_from(p);
        p->at = g;
        g->used++;
    }
    snprintf(p->place, sizeof p->place, "%s", g->place);
    snprintf(p->node, sizeof p->node, "%s", g->node);
    set_stage(p, GIVEN);
    if (p->base.queued)
        tell(p, RUN_BEGUN);
    p->base.queued = false;
}

/* ---- given ---- */

/* Those of the agent that nobody has. */
static void
take_devices(struct piece *p, uint64_t n)
{
    struct agents_agent *g = p->at;

    for (unsigned i = 0; i < g->n_devices && n > 0; i++) {
        uint64_t bit = UINT64_C(1) << i;

        if (g->devices_used & bit)
            continue;
        p->devices |= bit;
        n--;
    }
    g->devices_used |= p->devices;
}

/* Of the trial's checkpoints the one that it goes on from, and of the others
 * that there are such, so that it numbers its own behind them. */
static void
send_checkpoints(struct piece *p)
{
    const char *root = agents_of(&p->base)->folder;
    struct ferry *f = &p->at->ferry;
    char *home = ferry_checkpoints(p->token), path[300];
    char *folder = home != NULL ? file_join(root, home) : NULL;
    uint64_t newest = folder != NULL ? checkpoint_newest(folder) : 0;

    if (newest > 0) {
        snprintf(path, sizeof path, "%.250s/%llu", home,
                 (unsigned long long)newest);
        ferry_folder(f, p->token, path);
    }
    if (p->restore != NULL)
        ferry_tree(f, root, p->token, p->restore + strlen(root) + 1, NULL,
                   NULL);
    ferry_folder(f, p->token, p->saving + strlen(root) + 1);
    free(home);
    free(folder);
}

static void
send_files(struct piece *p)
{
    char *tree = ferry_trial(p->token);

    if (tree != NULL)
        ferry_tree(&p->at->ferry, agents_of(&p->base)->folder, p->token, tree,
                   NULL, NULL);
    if (p->saving != NULL)
        send_checkpoints(p);
    free(tree);
}

static void
say_order(struct piece *p)
{
    const struct wishes *w = agents_of(&p->base)->setup.wishes;
    struct agents_agent *g = p->at;
    struct buf order;
    bool first = true;

    buf_init(&order, ORDER_MAX);
    buf_add(&order, p->order.data, p->order.len);
    if (w->devices_managed) {
        buf_add_text(&order, "=" TRIAL_ENV_DEVICES "=");
        for (unsigned i = 0; i < g->n_devices; i++)
            if (p->devices & UINT64_C(1) << i) {
                buf_printf(&order, "%s%s", first ? "" : ",", g->devices[i]);
                first = false;
            }
        buf_add_char(&order, '\0');
    }
    if (g->in->apart) {
        send_files(p);
        ferry_say(&g->ferry, AGENT_START, &order);
    } else {
        wire_say_texts(&g->wire, AGENT_START, &order);
    }
    buf_fini(&order);
}

static void
say_stop(struct piece *p, const char *how)
{
    struct agents_agent *g = p->at;
    struct buf texts;

    if (g != NULL && g->ready && g->in->apart) { /* behind its start */
        buf_init(&texts, ORDER_MAX);
        texts_add(&texts, p->token);
        texts_add(&texts, how);
        ferry_say(&g->ferry, AGENT_STOP, &texts);
        buf_fini(&texts);
    } else if (g != NULL && g->ready) {
        wire_say(&g->wire, AGENT_STOP, p->token, how);
    }
    wake_signal(&agents_of(&p->base)->wake);
}

static bool
is_left_out(const struct agents_agent *g)
{
    const struct machines *m = g->in->setup.machines;

    return m != NULL && machines_why(m, g->node) != NULL;
}

static bool
takes_trials(const struct agents_agent *g)
{
    return g->ready && !g->leaving && !g->outdated && !is_left_out(g);
}

static bool
has_room(const struct agents_agent *g)
{
    return takes_trials(g) && g->used < g->slots;
}

/* The one with the most room: NULL: none has any. */
static struct agents_agent *
find_room(const struct agents *a)
{
    struct agents_agent *best = NULL;

    for (struct link *at = a->agents.first; at != NULL; at = at->next) {
        struct agents_agent *g = at->of;

        if (has_room(g) &&
            (best == NULL || g->slots - g->used > best->slots - best->used))
            best = g;
    }
    return best;
}

static void
give_out(struct agents *a)
{
    struct agents_agent *g;

    for (struct link *at = a->runs.first; at != NULL && a->waiting > 0;
         at = at->next) {
        struct piece *p = at->of;

        if (p->stage != WAITS)
            continue;
        g = find_room(a);
        if (g == NULL)
            return;
        belongs_to(p, g);
        take_devices(p, a->setup.wishes->devices);
        say_order(p);
    }
}

size_t
agents_wanted(const struct agents *a)
{
    size_t room = 0;

    for (const struct link *at = a->agents.first; at != NULL; at = at->next) {
        const struct agents_agent *g = at->of;

        room += has_room(g) ? g->slots - g->used : 0;
    }
    return a->waiting > room ? a->waiting - room : 0;
}

/* ---- its answers ---- */

static void
send_answers(struct piece *p)
{
    char *path, lines[4096];
    ssize_t n = 0, len;
    int fd;

    if (p->watch < 0 || p->at == NULL || !p->at->ready)
        return;
    path = file_join(p->folder, TRIAL_ANSWERED);
    fd = path != NULL ? file_open_plain(path, O_RDONLY) : -1;
    free(path);
    while (fd >= 0 &&
           (n = pread(fd, lines, sizeof lines - 1, p->answered)) > 0) {
        for (len = n; len > 0 && lines[len - 1] != '\n';)
            len--;
        if (len == 0)
            break;
        lines[len] = '\0';
        p->answered += len;
        wire_say(&p->at->wire, AGENT_ANSWER, p->token, lines);
    }
    if (fd >= 0)
        close(fd);
}

/* The newest, of which some may be lost with a channel: who has them already
 * does not wait for them. */
static void
answer_again(struct piece *p)
{
    char *path = file_join(p->folder, TRIAL_ANSWERED), part[AGAIN_BYTES];
    int fd = path != NULL ? file_open_plain(path, O_RDONLY) : -1;
    const char *line;
    struct stat st;
    ssize_t n;

    free(path);
    if (fd < 0)
        return;
    p->answered = 0;
    if (fstat(fd, &st) == 0 && st.st_size > AGAIN_BYTES) {
        n = pread(fd, part, sizeof part, st.st_size - AGAIN_BYTES);
        line = n > 0 ? memchr(part, '\n', (size_t)n) : NULL;
        p->answered = st.st_size - AGAIN_BYTES +
                      (line != NULL ? line + 1 - part : AGAIN_BYTES);
    }
    close(fd);
    send_answers(p);
}

/* From the first report on there may be answers. */
static void
watch_answers(struct piece *p)
{
    struct agents *a = agents_of(&p->base);
    char *path = file_join(p->folder, TRIAL_ANSWERED);

    if (path != NULL && p->watch < 0)
        p->watch = inotify_add_watch(a->inotify_fd, path, IN_MODIFY);
    free(path);
    if (p->watch >= 0)
        map_put(&a->watches, &p->watch, sizeof p->watch, p);
}

static void
look_at_answers(struct agents *a)
{
    char events[16384]
        __attribute__((aligned(__alignof__(struct inotify_event))));
    ssize_t n;

    while ((n = read(a->inotify_fd, events, sizeof events)) > 0)
        for (char *at = events; at < events + n;) {
            const struct inotify_event *e = (const struct inotify_event *)at;
            struct piece *p = map_get(&a->watches, &e->wd, sizeof e->wd);

            at += sizeof *e + e->len;
            if (p != NULL)
                send_answers(p);
        }
}

/* ---- a channel ends ---- */

/* Says a warning of an agent's, the same line once. */
static void
say(struct agents_agent *g, const char *text)
{
    struct agents *a = g->in;
    char line[400];

    snprintf(line, sizeof line, "tunepipe: warning: %.90s: %.280s", g->place,
             text);
    if (strcmp(line, g->said) != 0)
        a->setup.say(a->setup.ctx, line);
    memcpy(g->said, line, sizeof g->said);
}

/* A process that copies a checkpoint was forked with all that is open here:
 * what is closed alone is not out of epoll. */
static void
close_wire(struct agents_agent *g)
{
    if (!wire_is_open(&g->wire))
        return;
    epoll_ctl(g->in->base.fd, EPOLL_CTL_DEL, g->wire.in, NULL);
    if (g->full && g->wire.out != g->wire.in)
        epoll_ctl(g->in->base.fd, EPOLL_CTL_DEL, g->wire.out, NULL);
    wire_close(&g->wire);
    ferry_clear(&g->ferry);
    g->ready = g->full = false;
}

static void
lose(struct agents_agent *g)
{
    if (!wire_is_open(&g->wire))
        return;
    close_wire(g);
    g->in->lost(g);
}

/* ---- what agents say ---- */

static void
set_slots(struct agents_agent *g, struct said *said)
{
    const struct runner_setup *setup = &g->in->setup;
    uint64_t each = setup->cluster->cpus > 0 ? setup->cluster->cpus : 1;
    uint64_t slots = said_number(said) / each, memory = said_number(said);
    const char *devices = said_text(said);

    for (g->n_devices = 0; devices != NULL && *devices != '\0' &&
                           g->n_devices < AGENT_DEVICES_MAX;
         g->n_devices++) {
        size_t len = strcspn(devices, ",");

        snprintf(g->devices[g->n_devices], sizeof g->devices[0], "%.*s",
                 (int)len, devices);
        devices += len + (devices[len] == ',');
    }
    if (memory > 0 && setup->wishes->memory > 0 &&
        memory / setup->wishes->memory < slots)
        slots = memory / setup->wishes->memory;
    if (setup->wishes->devices > 0 &&
        g->n_devices / setup->wishes->devices < slots)
        slots = g->n_devices / setup->wishes->devices;
    g->slots = slots > 0 ? (unsigned)slots : 1;
}

static struct piece *
piece_of(const struct agents *a, const char *token)
{
    return token != NULL ? map_get(&a->tokens, token, strlen(token)) : NULL;
}

/* It is no trial of this manager's: nobody's, or another agent's by now; but
 * those that this manager has left are for the next one. */
static void
forget(struct agents_agent *g, const struct piece *p, const char *token)
{
    if (p != NULL || !g->in->left)
        wire_say(&g->wire, AGENT_FORGET, token);
}

/* Whether an agent can be the one that has it, of one that waits, too: an
 * earlier manager, which gave it that, did not know yet that it had begun. */
static bool
may_have(const struct agents_agent *g, const struct piece *p)
{
    return p != NULL && (p->stage == SOUGHT || p->stage == WAITS || p->at == g);
}

/* The devices of an agent that are in a list, which it was told itself. */
static void
hold_devices(struct piece *p, const char *list)
{
    struct agents_agent *g = p->at;

    for (size_t len; *list != '\0'; list += len + (list[len] == ',')) {
        len = strcspn(list, ",");
        for (unsigned i = 0; i < g->n_devices; i++)
            if (strlen(g->devices[i]) == len &&
                strncmp(g->devices[i], list, len) == 0)
                p->devices |= UINT64_C(1) << i;
    }
    g->devices_used |= p->devices;
}

/* What the agent has: trials of ours, or such as nobody wants any more.  What
 * it does not have never reached it. */
static void
hear_hello(struct agents_agent *g, struct said *said)
{
    struct agents *a = g->in;
    const char *token, *devices;

    g->heard = g->ready = true;
    said_text(said); /* its version: the channel's is what counts */
    set_slots(g, said);
    while ((token = said_text(said)) != NULL &&
           (devices = said_text(said)) != NULL) {
        struct piece *p = piece_of(a, token);

        if (!may_have(g, p)) {
            forget(g, p, token);
            continue;
        }
        p->seen = true;
        belongs_to(p, g);
        hold_devices(p, devices);
        answer_again(p);
        if (p->stopped)
            say_stop(p, AGENT_TERM_ONCE);
    }
    for (struct link *at = a->runs.first; at != NULL; at = at->next) {
        struct piece *p = at->of;

        if (p->at == g && !p->seen && p->order.len > 0 && !p->stopped)
            say_order(p);
        else if (p->at == g && !p->seen)
            over(p);
        p->seen = false;
    }
    if (g->leaving && g->used == 0)
        wire_say(&g->wire, AGENT_LEAVE);
}

/* It was not begun, and may be on another agent. */
static void
not_begun(struct piece *p)
{
    snprintf(p->how, sizeof p->how, AGENT_LATER);
    p->text = strdup("its agent has ended");
    over(p);
}

/* What an agent has sent of a trial, and is about to forget. */
static int
keep(const struct piece *p)
{
    const struct {
        const char *folder, *name;
    } files[] = {{p->folder, TRIAL_METRICS},
                 {p->folder, TRIAL_NNI_METRICS},
                 {p->home, TRIAL_EXIT},
                 {p->home, "."}};
    int rc = 0;

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *path = file_join(files[i].folder, files[i].name);
        int fd =
            path != NULL
                ? open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
                : -1;

        if (fd >= 0 && fsync(fd) != 0)
            rc = -1;
        if (fd >= 0)
            close(fd);
        free(path);
    }
    return rc;
}

/* What cannot be written now is sent again over the next channel; what never
 * can, as of a name that this file system has not, is not had. */
static void
hear_file(struct agents_agent *g, struct said *said)
{
    struct agents *a = g->in;
    const char *token = said_text(said);
    const struct piece *p = piece_of(a, token);
    struct err err = {0};

    if (p == NULL || p->at != g ||
        ferry_take(&g->taken, said->code, said, a->folder, token, &err) == 0)
        return;
    say(g, err.text);
    if (errno_passes(err.number))
        lose(g);
}

static void
hear_over(struct agents_agent *g, struct said *said)
{
    const char *token = said_text(said), *how = said_text(said);
    const char *text = said_text(said);
    struct piece *p = piece_of(g->in, token);

    if (text == NULL)
        return;
    if (g->in->apart && p != NULL && p->at == g && keep(p) != 0) {
        lose(g);
        return;
    }
    forget(g, p, token);
    if (p == NULL || p->at != g)
        return;
    if (strcmp(how, AGENT_REFUSED) == 0) {
        g->leaving = true;
        not_begun(p);
        return;
    }
    snprintf(p->how, sizeof p->how, "%s", how);
    p->text = strdup(text);
    over(p);
}

static void
hear(struct agents_agent *g, struct said *said)
{
    struct piece *p;

    if (strcmp(said->code, AGENT_HELLO) == 0) {
        hear_hello(g, said);
    } else if (strcmp(said->code, AGENT_OVER) == 0) {
        hear_over(g, said);
    } else if (strcmp(said->code, AGENT_FILE) == 0 ||
               strcmp(said->code, AGENT_RENAMED) == 0) {
        hear_file(g, said);
    } else if (strcmp(said->code, AGENT_LEAVE) == 0) {
        g->leaving = true;
    } else if (strcmp(said->code, AGENT_GROWN) == 0) {
        p = piece_of(g->in, said_text(said));
        if (p == NULL || p->at != g)
            return;
        watch_answers(p);
        p->grown_ns = clock_monotonic_ns();
        tell(p, RUN_FILES);
    }
}

static void
listen_to(struct agents_agent *g)
{
    struct said said;
    int rc = wire_read(&g->wire, NULL), got = 0;

    if (rc > 0)
        g->heard_ns = clock_monotonic_ns();
    /* what came before its end counts */
    while (wire_is_open(&g->wire) &&
           (got = wire_next(&g->wire, &said, NULL)) > 0)
        hear(g, &said);
    if (rc < 0 || got < 0)
        lose(g);
}

/* ---- an agent ---- */

struct agents_agent *
agents_add(struct agents *a, void *of, const char *place)
{
    struct agents_agent *g = calloc(1, sizeof *g);

    if (g == NULL)
        return NULL;
    g->in = a;
    g->of = of;
    g->wire.in = g->wire.out = -1;
    g->heard_ns = clock_monotonic_ns();
    snprintf(g->place, sizeof g->place, "%s", place);
    list_add(&a->agents, NULL, &g->link, g);
    return g;
}

static void
watch_wire(const struct agents_agent *g, int how, int fd, uint32_t events)
{
    struct epoll_event e = {.events = events, .data.ptr = (void *)g};

    epoll_ctl(g->in->base.fd, how, fd, &e);
}

void
agents_connect(struct agents_agent *g, int in, int out)
{
    wire_open(&g->wire, in, out, true);
    watch_wire(g, EPOLL_CTL_ADD, in, EPOLLIN);
    g->opened_ns = g->pinged_ns = clock_monotonic_ns();
}

void
agents_dismiss(struct agents_agent *g)
{
    g->leaving = true;
    if (g->ready)
        wire_say(&g->wire, AGENT_LEAVE);
    wire_flush(&g->wire, NULL);
}

/* What an agent that ended by itself had not begun waits for another one. */
static bool
is_unbegun(const struct piece *p, int64_t lease_ms)
{
    return lease_ms == AGENTS_ORDERLY && p->order.len > 0 && !p->stopped &&
           !file_has(p->home, TRIAL_WRAPPER_PID) &&
           !file_has(p->home, TRIAL_EXIT);
}

void
agents_gone(struct agents_agent *g, const char *why, int64_t lease_ms)
{
    struct agents *a = g->in;
    int64_t until =
        clock_monotonic_ns() + (ORPHAN_MS + a->setup.grace_ms) * NS_PER_MS;
    int64_t lease =
        g->heard_ns + (lease_ms + ORPHAN_MS + a->setup.grace_ms) * NS_PER_MS;

    if (lease_ms > 0 && lease > until)
        until = lease;
    if (!g->heard && !g->blank && lease_ms != AGENTS_ORDERLY &&
        until > a->sought_until_ns)
        a->sought_until_ns = until;
    for (struct link *at = a->runs.first; at != NULL; at = at->next) {
        struct piece *p = at->of;

        if (p->at != g)
            continue;
        if (is_unbegun(p, lease_ms)) {
            not_begun(p);
            continue;
        }
        take_from(p);
        snprintf(p->why, sizeof p->why, "%.255s", why);
        p->failed = g->failed;
        p->until_ns = until;
        set_stage(p, ORPHANED);
    }
    close_wire(g);
    list_remove(&g->link);
    free(g);
    wake_signal(&a->wake);
}

void
agents_refuse(struct agents *a, const char *why)
{
    for (struct link *at = a->runs.first; at != NULL; at = at->next) {
        struct piece *p = at->of;

        if (p->stage != WAITS)
            continue;
        snprintf(p->how, sizeof p->how, AGENT_LATER);
        p->text = strdup(why);
        over(p);
    }
}

void
agents_unfit(struct agents *a, const char *node, const char *unfit,
             const char *why)
{
    for (struct link *at = a->runs.first; at != NULL; at = at->next) {
        struct piece *p = at->of;

        if (p->stage != WAITS)
            continue;
        snprintf(p->how, sizeof p->how, AGENT_LATER);
        snprintf(p->node, sizeof p->node, "%s", node);
        snprintf(p->unfit, sizeof p->unfit, "%s", unfit);
        p->text = strdup(why);
        over(p);
        return;
    }
}

/* ---- time ---- */

/* Whether there is an agent that may have one of an earlier manager's. */
static bool
any_may_have_more(const struct agents *a)
{
    for (const struct link *at = a->agents.first; at != NULL; at = at->next) {
        const struct agents_agent *g = at->of;

        if (!g->heard && !g->blank)
            return true;
    }
    return false;
}

/* Whether the others have room for all trials that there may be from now on. */
static bool
is_spare(const struct agents_agent *g)
{
    const struct agents *a = g->in;
    uint64_t slots = 0;

    for (const struct link *at = a->agents.first; at != NULL; at = at->next) {
        const struct agents_agent *other = at->of;

        if (other != g && takes_trials(other))
            slots += other->slots;
    }
    return a->waiting == 0 && a->sought == 0 && a->base.most > 0 &&
           slots >= a->base.most;
}

static int64_t
last_word(const struct agents_agent *g)
{
    return g->heard_ns > g->opened_ns ? g->heard_ns : g->opened_ns;
}

static void
look_at_clock(struct agents *a)
{
    int64_t now = clock_monotonic_ns(), alone = a->setup.cluster->agent_ms;
    bool none = a->sought > 0 && !any_may_have_more(a);

    for (struct link *at = a->agents.first, *next; at != NULL; at = next) {
        struct agents_agent *g = at->of;

        next = at->next;
        if (!wire_is_open(&g->wire))
            continue;
        if (g->ready && !g->leaving && g->used == 0 &&
            (g->outdated || is_left_out(g) || is_spare(g)))
            agents_dismiss(g);
        if (now >= last_word(g) + AGENT_SILENT_MS(alone) * NS_PER_MS) {
            lose(g);
        } else if (now >= g->pinged_ns + AGENT_PING_MS(alone) * NS_PER_MS) {
            g->pinged_ns = now;
            wire_say(&g->wire, AGENT_PING);
        }
    }
    for (struct link *at = a->runs.first; at != NULL; at = at->next) {
        struct piece *p = at->of;

        if ((p->stage == ORPHANED &&
             (now >= p->until_ns || file_has(p->home, TRIAL_EXIT))) ||
            (p->stage == SOUGHT && none &&
             (now >= a->sought_until_ns || file_has(p->home, TRIAL_EXIT))))
            over(p);
        else if (a->far && p->stage == GIVEN &&
                 now < p->grown_ns + FAR_MS * NS_PER_MS)
            tell(p, RUN_FILES);
    }
}

static void
flush(struct agents_agent *g)
{
    bool full;

    if (!ferry_go_on(&g->ferry, &g->wire)) {
        say(g, "a checkpoint cannot be read");
        lose(g);
        return;
    }
    if (!wire_is_full(&g->wire) && !g->full)
        return;
    if (wire_flush(&g->wire, NULL) != 0) {
        lose(g);
        return;
    }
    full = wire_is_full(&g->wire) || !ferry_is_empty(&g->ferry);
    if (full == g->full)
        return;
    g->full = full;
    if (g->wire.in == g->wire.out)
        watch_wire(g, EPOLL_CTL_MOD, g->wire.in,
                   full ? EPOLLIN | EPOLLOUT : EPOLLIN);
    else
        watch_wire(g, full ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, g->wire.out,
                   EPOLLOUT);
}

bool
agents_go_on(struct agents *a)
{
    struct epoll_event events[EVENTS_MAX];
    int n = epoll_wait(a->base.fd, events, EVENTS_MAX, 0);
    uint64_t times;
    bool ticks;

    wake_drain(&a->wake);
    for (int i = 0; i < n; i++) {
        struct agents_agent *g = events[i].data.ptr;

        if (g != NULL && (events[i].events & ~(uint32_t)EPOLLOUT) &&
            wire_is_open(&g->wire))
            listen_to(g);
    }
    look_at_answers(a);
    ticks = read(a->timer_fd, &times, sizeof times) == sizeof times;
    if (ticks)
        look_at_clock(a);
    give_out(a);
    for (struct link *at = a->agents.first, *next; at != NULL; at = next) {
        next = at->next;
        flush(at->of);
    }
    return ticks;
}

/* ---- opened ---- */

int
agents_watch_fd(struct agents *a, int fd, struct err *err)
{
    struct epoll_event e = {.events = EPOLLIN};

    return epoll_ctl(a->base.fd, EPOLL_CTL_ADD, fd, &e) == 0
               ? 0
               : err_errno(err, ERR_SYSTEM, "cannot watch for agents");
}

int
agents_open(struct agents *a, const struct runner_setup *setup, struct err *err)
{
    int64_t ms = setup->cluster->report_ms;
    const struct timespec pause = {ms / 1000, ms % 1000 * NS_PER_MS};
    const struct itimerspec every = {pause, pause};

    a->setup = *setup;
    a->base.fd = epoll_create1(EPOLL_CLOEXEC);
    a->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    a->inotify_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (wake_open(&a->wake, err) != 0)
        return -1;
    if (a->base.fd < 0 || a->timer_fd < 0 || a->inotify_fd < 0 ||
        timerfd_settime(a->timer_fd, 0, &every, NULL) != 0)
        return err_errno(err, ERR_SYSTEM, "cannot watch for agents");
    return agents_watch_fd(a, a->wake.fd, err) == 0 &&
                   agents_watch_fd(a, a->timer_fd, err) == 0 &&
                   agents_watch_fd(a, a->inotify_fd, err) == 0
               ? 0
               : -1;
}

void
agents_settle(struct agents *a, const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    a->folder = folder;
    a->apart = !a->setup.cluster->shared;
    a->far = fd >= 0 && filesystem_is_far(fd);
    if (fd >= 0)
        close(fd);
}

void
agents_close(struct agents *a)
{
    while (a->agents.first != NULL) {
        struct agents_agent *g = a->agents.first->of;

        ferry_go_on(&g->ferry, &g->wire);
        wire_flush(&g->wire, NULL); /* stops, too */
        wire_close(&g->wire);
        ferry_clear(&g->ferry);
        list_remove(&g->link);
        free(g);
    }
    wake_close(&a->wake);
    for (size_t i = 0; i < 3; i++) {
        int fd = ((const int[]){a->timer_fd, a->inotify_fd, a->base.fd})[i];

        if (fd >= 0)
            close(fd);
    }
    map_fini(&a->tokens);
    map_fini(&a->watches);
}

/* ---- a run ---- */

static void
piece_free(struct piece *p)
{
    struct agents *a = agents_of(&p->base);

    take_from(p);
    set_stage(p, OVER);
    list_remove(&p->link);
    list_remove(&p->news);
    if (p->token != NULL &&
        map_get(&a->tokens, p->token, strlen(p->token)) == p)
        map_remove(&a->tokens, p->token, strlen(p->token));
    if (p->watch >= 0) {
        map_remove(&a->watches, &p->watch, sizeof p->watch);
        inotify_rm_watch(a->inotify_fd, p->watch);
    }
    buf_fini(&p->order);
    free(p->folder);
    free(p->home);
    free(p->token);
    free(p->saving);
    free(p->restore);
    free(p->text);
    free(p);
}

static struct piece *
piece_new(struct agents *a, struct trial *t, const struct runner_phase *phase)
{
    struct piece *p = calloc(1, sizeof *p);

    if (p == NULL)
        return NULL;
    p->base = (struct run){.runner = &a->base,
                           .trial = t,
                           .queued = true,
                           .asked_ns = clock_monotonic_ns()};
    p->stage = OVER;
    p->watch = -1;
    buf_init(&p->order, ORDER_MAX);
    list_add(&a->runs, NULL, &p->link, p);
    p->folder = strdup(phase->folder);
    p->home = runner_phase_folder(phase);
    if (p->home != NULL)
        p->token = strdup(p->home + strlen(a->folder) + 1);
    if (p->folder != NULL && p->token != NULL &&
        map_put(&a->tokens, p->token, strlen(p->token), p) == 0)
        return p;
    piece_free(p);
    return NULL;
}

static void
add_change(void *ctx, const char *name, size_t len, const char *value,
           size_t size, bool before)
{
    struct buf *b = ctx;

    buf_add_char(b, value == NULL ? '-' : before ? '+' : '=');
    buf_add(b, name, len);
    if (value != NULL) {
        buf_add_char(b, '=');
        buf_add(b, value, size);
    }
    buf_add_char(b, '\0');
}

static void
add_number(struct buf *b, uint64_t n)
{
    buf_printf(b, "%llu", (unsigned long long)n);
    buf_add_char(b, '\0');
}

static int
write_order(struct piece *p, const struct runner_task *task, struct err *err)
{
    const struct wishes *w = agents_of(&p->base)->setup.wishes;
    struct buf *b = &p->order;
    size_t n = 0;

    while (task->command[n] != NULL)
        n++;
    texts_add(b, p->token);
    add_number(b, task->phase.prepares);
    texts_add(b, task->phase.folder);
    texts_add(b, task->cwd);
    add_number(b, w->limit != LIMIT_NONE ? w->memory : 0);
    add_number(b, n);
    for (size_t i = 0; i < n; i++)
        texts_add(b, task->command[i]);
    changes_tell(task->env, add_change, b);
    if (b->len > ORDER_MAX - DEVICES_BYTES)
        b->failed = true;
    return buf_check(b, "a trial's command and environment", err);
}

static int
note_checkpoints(struct piece *p, const struct runner_task *task,
                 struct err *err)
{
    p->saving = task->saving != NULL ? strdup(task->saving) : NULL;
    p->restore = task->restore != NULL ? strdup(task->restore) : NULL;
    return (task->saving != NULL && p->saving == NULL) ||
                   (task->restore != NULL && p->restore == NULL)
               ? err_set(err, ERR_MEMORY, "out of memory")
               : 0;
}

struct run *
agents_start(struct runner *r, const struct runner_task *task, struct err *err)
{
    struct agents *a = (struct agents *)r;
    struct piece *p = piece_new(a, task->trial, &task->phase);

    if (p == NULL) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    if (write_order(p, task, err) != 0 ||
        (a->apart && note_checkpoints(p, task, err) != 0)) {
        piece_free(p);
        return NULL;
    }
    set_stage(p, WAITS);
    if (!task->phase.prepares)
        watch_answers(p);
    wake_signal(&a->wake);
    return &p->base;
}

/* Where no agent lives, nobody has it; what was answered before is not sent
 * again, as nobody waits for it. */
struct run *
agents_adopt(struct runner *r, struct trial *t,
             const struct runner_phase *phase)
{
    struct agents *a = (struct agents *)r;
    char *home = runner_phase_folder(phase), *path;
    bool ended = home == NULL || file_has(home, TRIAL_EXIT);
    struct piece *p = NULL;
    struct stat st;

    free(home);
    if (!ended && a->agents.first != NULL)
        p = piece_new(a, t, phase);
    if (p == NULL)
        return NULL;
    set_stage(p, SOUGHT);
    p->base.queued = !file_has(p->home, TRIAL_WRAPPER_PID);
    path = file_join(p->folder, TRIAL_ANSWERED);
    if (path != NULL && lstat(path, &st) == 0)
        p->answered = st.st_size;
    free(path);
    if (!phase->prepares)
        watch_answers(p);
    return &p->base;
}

/* What an agent that is gone has left ends by itself. */
void
agents_clear(struct runner *r, const struct runner_phase *phase)
{
    (void)r;
    (void)phase;
}

int
agents_watch(struct run *run)
{
    struct piece *p = (struct piece *)run;
    struct agents *a = agents_of(run);

    p->watched = true;
    if (p->tells != 0 && p->news.in == NULL)
        list_add(&a->news, NULL, &p->news, p);
    wake_signal(&a->wake);
    return 0;
}

void
agents_stop(struct run *run, enum run_stop how)
{
    struct piece *p = (struct piece *)run;

    p->stopped = true;
    if (p->stage == GIVEN)
        say_stop(p, how == RUN_GIVE_UP ? AGENT_KILL : AGENT_TERM);
    if (p->stage == WAITS || (how == RUN_GIVE_UP && p->stage != OVER))
        over(p);
}

/* It began, and nobody has told how it ended. */
static void
end_lost(const struct piece *p, struct run_end *out)
{
    struct outcome *o = &out->outcome;

    out->unbegun = p->stage == OVER && p->base.queued && !p->stopped;
    out->again = !p->stopped && !out->unbegun &&
                 (o->kind == OUTCOME_LOST || o->abandoned || o->told ||
                  outcome_by_signal(o));
    if (o->kind == OUTCOME_LOST)
        snprintf(o->text, sizeof o->text, "%s",
                 p->why[0] != '\0' ? p->why : "no agent has it");
    snprintf(out->why, sizeof out->why, "%s",
             p->why[0] != '\0' ? p->why : "no agent has it");
}

int
agents_end(struct run *run, struct run_end *out, struct err *err)
{
    struct piece *p = (struct piece *)run;
    struct outcome *o = &out->outcome;
    int rc = 0;

    *out = (struct run_end){.outcome = {.kind = OUTCOME_LOST}};
    memcpy(out->place, p->place, sizeof out->place);
    memcpy(out->unfit, p->unfit, sizeof out->unfit);
    if (strcmp(p->how, AGENT_LATER) == 0 ||
        strcmp(p->how, AGENT_UNSTARTED) == 0) {
        out->unbegun = strcmp(p->how, AGENT_LATER) == 0;
        o->kind = out->unbegun ? OUTCOME_LOST : OUTCOME_UNSTARTED;
        snprintf(o->text, sizeof o->text, "%.255s",
                 p->text != NULL ? p->text : "");
    } else if (p->text != NULL && p->text[0] != '\0') {
        rc = outcome_parse(p->text, o, err);
    } else {
        rc = outcome_read(p->home, o, err);
    }
    if (p->how[0] == '\0' && rc == 0)
        end_lost(p, out);
    if (strcmp(p->how, AGENT_CUT) == 0 && !p->stopped) {
        out->again = true;
        snprintf(out->why, sizeof out->why, "%.90s: its agent was told to end",
                 p->place);
    }
    memcpy(o->node, p->node, sizeof o->node);
    o->machine_failed = o->kind == OUTCOME_LOST && p->failed;
    piece_free(p);
    return rc;
}

void
agents_leave(struct run *run)
{
    struct piece *p = (struct piece *)run;

    agents_of(run)->left = true;
    piece_free(p);
}

void
agents_describe(const struct run *run, struct buf *out)
{
    const struct piece *p = (const struct piece *)run;
    const struct agents *a = agents_of(run);

    if (p->stage == GIVEN)
        buf_add_text(out, p->place);
    else if (p->stage == SOUGHT)
        buf_add_text(out, "its agent is being connected");
    else if (p->stage == ORPHANED)
        buf_printf(out, "its agent is gone (%s), and it may run on for now",
                   p->why);
    else if (a->waits != NULL)
        a->waits(a, out);
}

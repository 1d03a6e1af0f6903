/* SPDX-License-Identifier: MIT */
/* DESIGN: one poll(2) over three descriptors.
 *
 *   signals   SIGCHLD: wait for children.  SIGTERM: stop the trial.
 *   lease     held or not: stop or start the adoption timer.
 *   timer     RUNNING: nobody came, stop the trial.  ENDING: kill it.
 *
 *   RUNNING --(SIGTERM, nobody adopts, first process ended)--> ENDING
 *           SIGTERM to the tree, the grace period begins
 *   ENDING --(grace period over, SIGTERM once more)--> KILLING
 *           SIGKILL to the tree, again after every SIGCHLD; what signals a
 *           whole control group signals the manager, too, which then asks for
 *           the first time: from another process "once more" is twice
 *   any --(no child left)--> return
 *
 * Only one timer is needed: the lease does not matter once RUNNING is over.
 * What the outputs may hold is looked at where a limit is set, and then every
 * second.
 */
#include "wrapper/supervise.h"

#include "wrapper/exitfile.h"
#include "wrapper/lease.h"
#include "wrapper/options.h"
#include "wrapper/relay.h"
#include "wrapper/spawn.h"
#include "wrapper/tree.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_MS 1000

enum phase { RUNNING, ENDING, KILLING };

struct watch {
    const struct options *options;
    const struct outputs *outputs;
    struct outcome *outcome;
    struct lease *lease;
    struct relay relay;
    pid_t first; /* the trial's first process */
    int signal_fd, timer_fd;
    enum phase phase;
    bool first_ended;
    bool alive; /* a process of the trial is left */
    /* Who sent the signal that began the end; 0: does not matter. */
    uint32_t asker;
};

/* Sets the timer to go off once, in so many ms; 0: at once; negative: never. */
static void
set_timer(struct watch *w, long ms)
{
    struct itimerspec when = {.it_value = {0, 0}};

    if (ms >= 0) {
        when.it_value.tv_sec = ms / 1000;
        when.it_value.tv_nsec = ms % 1000 * 1000000;
        if (ms == 0)
            when.it_value.tv_nsec = 1; /* 0 would disarm it */
    }
    timerfd_settime(w->timer_fd, 0, &when, NULL);
}

static void
end_tree(struct watch *w)
{
    w->phase = ENDING;
    set_timer(w, w->options->grace_ms);
    tree_signal(SIGTERM);
}

static void
kill_tree(struct watch *w)
{
    w->phase = KILLING;
    tree_signal(SIGKILL);
}

static void
first_process_ended(struct watch *w, int status)
{
    struct outcome *o = w->outcome;

    exitfile_end(o);
    o->wait_status = status;
    o->alone |= !lease_look(w->lease);
    w->first_ended = true;
}

static void
reap(struct watch *w)
{
    int status;
    pid_t pid;

    while ((pid = wait4(-1, &status, WNOHANG | __WALL, NULL)) != 0) {
        if (pid < 0 && errno == EINTR)
            continue;
        if (pid < 0) {
            w->alive = false;
            return;
        }
        if (pid == w->first)
            first_process_ended(w, status);
    }
    if (w->phase == KILLING)
        kill_tree(w);
    else if (w->phase == RUNNING && w->first_ended)
        end_tree(w); /* what it left behind is ended as well */
}

/* Whether the process that asked for the end asks again within the grace: it
 * does not want to wait. */
static bool
is_asked_again(struct watch *w, uint32_t asker)
{
    bool again = w->asker == 0 || w->asker == asker;

    w->asker = 0; /* only once */
    return again;
}

static void
on_signals(struct watch *w)
{
    struct signalfd_siginfo info;
    bool child = false, stop = false, soon = false;
    uint32_t asker = 0;

    while (read(w->signal_fd, &info, sizeof(info)) == sizeof(info)) {
        child = child || info.ssi_signo == SIGCHLD;
        if (info.ssi_signo == SIGCHLD)
            continue;
        if (!stop && w->phase == RUNNING)
            w->outcome->told = (int)info.ssi_signo;
        soon = !stop && info.ssi_signo == SIGUSR1;
        asker = info.ssi_pid;
        stop = true;
    }
    if (stop && w->phase == RUNNING) {
        w->asker = soon ? UINT32_MAX : asker;
        end_tree(w);
        if (soon)
            set_timer(w, -1); /* it has the time until it is ended */
    } else if (stop && w->phase == ENDING && is_asked_again(w, asker)) {
        kill_tree(w);
    }
    if (child)
        reap(w);
}

static void
on_lease(struct watch *w)
{
    bool before = w->lease->held, now = lease_look(w->lease);

    if (!now && (w->first_ended || w->outcome->told != 0))
        w->outcome->alone = true;
    if (w->phase == RUNNING && before != now)
        set_timer(w, now ? -1 : w->options->adopt_ms);
}

static void
on_timer(struct watch *w)
{
    uint64_t times;

    if (read(w->timer_fd, &times, sizeof(times)) != sizeof(times))
        return; /* the timer was set anew meanwhile */
    if (w->phase == ENDING)
        kill_tree(w);
    else if (w->phase == RUNNING && !lease_look(w->lease)) {
        w->outcome->abandoned = true;
        end_tree(w);
    }
}

static void
loop(struct watch *w)
{
    bool limited = w->options->output_bytes > 0;
    bool relays = w->options->alive != NULL;

    while (w->alive) {
        int pause_ms = relays ? relay_step(&w->relay) : limited ? LOOK_MS : -1;

        struct pollfd fds[] = {
            {.fd = w->signal_fd, .events = POLLIN},
            {.fd = w->timer_fd, .events = POLLIN},
            {.fd = w->phase != KILLING ? w->lease->fd : -1,
             .events = w->lease->events},
        };

        if (poll(fds, 3, pause_ms) < 0)
            continue; /* EINTR */
        if (limited)
            outputs_trim(w->outputs, w->options->output_bytes);
        if (fds[2].revents != 0)
            on_lease(w);
        if (fds[1].revents != 0)
            on_timer(w);
        if (fds[0].revents != 0)
            on_signals(w);
    }
    relay_end(&w->relay);
}

static int
open_all(struct watch *w)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGUSR1);
    w->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    w->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    return w->signal_fd < 0 || w->timer_fd < 0 ? -1 : 0;
}

int
supervise(const struct options *options, const struct outputs *outputs,
          struct lease *lease, struct outcome *outcome)
{
    struct watch w = {.options = options,
                      .outputs = outputs,
                      .outcome = outcome,
                      .lease = lease};

    if (open_all(&w) != 0)
        return -1; /* the process ends, which closes all files */
    if (!lease->held)
        set_timer(&w, options->adopt_ms);
    exitfile_begin(outcome);
    relay_begin(&w.relay, outputs->dir_fd, options->alive);
    if (options->alive != NULL)
        relay_step(&w.relay); /* its first report may wait already */
    w.first = spawn_trial(options, outputs, outcome);
    if (w.first < 0) {
        exitfile_end(outcome);
        outcome->alone = !lease_look(lease);
        return 0;
    }
    w.alive = true;
    loop(&w);
    if (options->output_bytes > 0)
        outputs_trim(outputs, options->output_bytes);
    /* the manager may die together with the trial */
    outcome->alone |= !lease_look(lease);
    return 0;
}

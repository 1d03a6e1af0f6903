/* SPDX-License-Identifier: MIT */
/* tunepipe-wrapper - runs one trial, whatever becomes of the manager: gives it
 * its files, stops it with everything it started, writes how it ended.  What
 * it promises stands in trial/files.h. */
#include "core/passing.h"
#include "core/process.h"
#include "trial/files.h"
#include "wrapper/confine.h"
#include "wrapper/exitfile.h"
#include "wrapper/lease.h"
#include "wrapper/options.h"
#include "wrapper/serve.h"
#include "wrapper/spawn.h"
#include "wrapper/supervise.h"
#include "wrapper/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define STATUS_CANNOT 2
#define PAUSE_FIRST_MS 100
#define PAUSE_MAX_MS 10000

static int
cannot(const char *what, const char *path)
{
    char why[128];

    fprintf(stderr, TRIAL_WRAPPER_SAYS "%s%s: %s\n", what, path,
            strerror_r(errno, why, sizeof(why)));
    return STATUS_CANNOT;
}

/* Says why no process of the trial was started. */
static int
cannot_begin(struct exitfile *f, const char *what, const char *path)
{
    int number = errno, status = cannot(what, path);

    if (f != NULL)
        exitfile_discard(f);
    return errno_passes(number) ? TRIAL_WRAPPER_LATER : status;
}

/* Signals wait until they are asked for; an inherited SIG_IGN would drop them
 * (and, for SIGCHLD, the trial's exit status). */
static void
take_signals(void)
{
    static const int signals[] = {SIGCHLD, SIGTERM, SIGINT,
                                  SIGHUP,  SIGPIPE, SIGUSR1};
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        sigaddset(&set, signals[i]);
    sigprocmask(SIG_SETMASK, &set, NULL);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        signal(signals[i], SIG_DFL);
}

/* A terminal's hang-up must not reach us.  The leader of a process group that
 * shares its session may leave the group first. */
static int
own_session(void)
{
    if (getsid(0) == getpid() || setsid() >= 0)
        return 0;
    return setpgid(0, getpgid(getppid())) == 0 && setsid() >= 0 ? 0 : -1;
}

/* Whatever the manager had open without close-on-exec is not ours to hold; 0,
 * 1 and 2 are open from here on, so that nothing else gets these numbers. */
static void
clean_descriptors(void)
{
    struct dirent *entry;
    DIR *open_fds;
    int fd;

    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= 2);
    if (process_close_others(0))
        return;
    open_fds = opendir("/proc/self/fd");
    while (open_fds != NULL && (entry = readdir(open_fds)) != NULL) {
        fd = atoi(entry->d_name);
        if (fd > 2 && fd != dirfd(open_fds))
            close(fd);
    }
    if (open_fds != NULL)
        closedir(open_fds);
}

/* Lets go of the manager's terminal and pipes; later messages go to the trial's
 * stderr.  On failure what was inherited stays, which does no harm. */
static void
let_go(int words)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (null >= 0) {
        dup2(null, 0);
        dup2(null, 1);
        close(null);
    }
    if (words >= 0)
        dup2(words, 2);
}

/* Whether the wrapper is asked to end within the time. */
static bool
is_stopped(long ms)
{
    struct timespec within = {ms / 1000, ms % 1000 * 1000000};
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    return sigtimedwait(&set, NULL, &within) > 0;
}

/* Writes how the trial ended, which no other process knows: an error that may
 * pass is waited for, and told once. */
static int
tell_end(struct exitfile *f, struct lease *lease, const struct outcome *outcome,
         const struct options *options)
{
    const char *path = options->dir;
    bool stopped = false;

    for (long pause_ms = 0;
         exitfile_write(f, outcome, options->synced || !lease_look(lease)) !=
         0;) {
        if (stopped || !errno_passes(errno))
            return cannot("cannot write " TRIAL_EXIT " in ", path);
        if (pause_ms == 0)
            cannot("waits (until SIGTERM): cannot write " TRIAL_EXIT " in ",
                   path);
        pause_ms = pause_ms == 0                 ? PAUSE_FIRST_MS
                   : 2 * pause_ms < PAUSE_MAX_MS ? 2 * pause_ms
                                                 : PAUSE_MAX_MS;
        stopped = is_stopped(pause_ms);
    }
    return 0;
}

/* Whether the process lives that wrote the file which is there. */
static bool
is_taken(int dir_fd)
{
    const int flags = O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(dir_fd, TRIAL_WRAPPER_PID, flags);
    char text[32] = "";

    if (fd < 0)
        return false;
    if (read(fd, text, sizeof text - 1) < 0)
        text[0] = '\0';
    close(fd);
    return atoi(text) > 0 && kill(atoi(text), 0) == 0;
}

/* Makes wrapper.pid.  What lies there may be of another wrapper of this
 * attempt, which lives, or has another manager; else it is nothing. */
static int
claim(struct exitfile *f, int dir_fd, const struct lease *lease,
      const struct options *options, const char *lease_path)
{
    int rc = exitfile_make(f, dir_fd, options);

    if (rc != 0 && errno == EEXIST && lease->fifo_fd >= 0 &&
        lease_is_offered(lease, dir_fd, lease_path) && !is_taken(dir_fd) &&
        unlinkat(dir_fd, TRIAL_WRAPPER_PID, 0) == 0)
        rc = exitfile_make(f, dir_fd, options);
    if (rc != 0)
        return cannot_begin(f, "cannot write " TRIAL_WRAPPER_PID " in ",
                            options->dir);
    errno = EAGAIN;
    return lease_is_offered(lease, dir_fd, lease_path)
               ? 0
               : cannot_begin(f, "has lost its manager: ", lease_path);
}

/* To the parent: when that is gone, nobody watches over the trial any more. */
static void
tie(void)
{
    pid_t parent = getppid();

    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        raise(SIGTERM);
}

int
main(int argc, char **argv)
{
    struct outcome outcome = {.started_ns = 0};
    struct options options;
    struct exitfile file = {.fd = -1};
    struct lease lease;
    struct outputs outputs;
    const char *lease_path;
    int dir_fd, status;

    if (argc == 3 && strcmp(argv[1], TRIAL_WRAPPER_SERVE) == 0)
        serve(&argc, &argv);
    take_signals();
    clean_descriptors();
    if (options_parse(&options, argc, argv) != 0)
        return STATUS_CANNOT;
    lease_path = options.lease != NULL ? options.lease : TRIAL_LEASE;
    if (strcmp(lease_path, TRIAL_NO_LEASE) == 0)
        tie();
    dir_fd = open(options.dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir_fd < 0)
        return cannot_begin(NULL, "cannot open ", options.dir);
    prctl(PR_SET_NAME, "tunepipe-wrap");
    if (own_session() != 0)
        return cannot("cannot have a session of its own", "");
    if (!tree_works())
        return cannot("cannot list children in ", "/proc");
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        return cannot("cannot take in orphans", "");
    if (lease_open(&lease, dir_fd, lease_path) != 0)
        return cannot_begin(NULL, "cannot open the FIFO ", lease_path);
    status = claim(&file, dir_fd, &lease, &options, lease_path);
    if (status != 0)
        return status;
    outputs_open(&outputs, dir_fd);
    let_go(outputs.fds[1]);
    if (supervise(&options, &outputs, &lease, &outcome) != 0)
        return cannot_begin(&file, "cannot watch over ", options.dir);
    outcome.memory = confine_leave(options.cgroup);
    if (errno_passes(outcome.unstarted_errno)) {
        fprintf(stderr, TRIAL_WRAPPER_SAYS "%s\n", outcome.unstarted);
        exitfile_discard(&file);
        return TRIAL_WRAPPER_LATER;
    }
    status = tell_end(&file, &lease, &outcome, &options);
    outputs_close(&outputs);
    exitfile_close(&file);
    return status;
}

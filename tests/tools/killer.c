/* SPDX-License-Identifier: MIT */
/* killer SEED KILLS TUNEPIPE CONFIG [POWERCUT | --interrupt] - runs an
 * experiment in the current folder and kills its dispatcher, its manager or
 * both with SIGKILL, at moments drawn from the seed: when a file of the
 * experiment has grown by so many bytes, or a moment later, which is while they
 * start more often than not. A manager that was killed is followed by `tunepipe
 * resume`.  With the tool POWERCUT all and their trials are killed, always, and
 * the tool then takes from the files what was not on the disk.  With
 * --interrupt two of three times it is SIGTERM, SIGINT or, for the manager,
 * `tunepipe stop` instead.  Ends with the last manager's status; prints how
 * many of each kind were killed. */
#include "log/lock.h"

#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_S 300

enum victim { DISPATCHER, MANAGER, BOTH, VICTIMS };

struct killer {
    const char *tunepipe, *powercut;
    bool interrupts;
    char folder[4096]; /* the experiment's; "" before there is one */
    uint64_t state;
    pid_t manager;
    int status; /* of the manager, once it has ended */
    unsigned killed[VICTIMS];
};

static uint64_t
draw(struct killer *k, uint64_t n)
{
    k->state = k->state * 6364136223846793005u + 1442695040888963407u;
    return (k->state >> 33) % n;
}

static void
start(struct killer *k, const char *verb, const char *operand)
{
    fflush(stdout);
    k->manager = fork();
    if (k->manager != 0)
        return;
    execl(k->tunepipe, k->tunepipe, verb, operand, (char *)NULL);
    _exit(127);
}

static bool
ended(struct killer *k)
{
    return waitpid(k->manager, &k->status, WNOHANG) == k->manager;
}

static void
find_folder(struct killer *k)
{
    glob_t found;

    if (k->folder[0] != '\0')
        return;
    if (glob("tunepipe-experiments/*", 0, NULL, &found) == 0)
        snprintf(k->folder, sizeof k->folder, "%s", found.gl_pathv[0]);
    globfree(&found);
}

static long long
size_of(struct killer *k, const char *name)
{
    char path[8192];
    struct stat st;

    find_folder(k);
    snprintf(path, sizeof path, "%s/%s", k->folder, name);
    return k->folder[0] != '\0' && stat(path, &st) == 0 ? (long long)st.st_size
                                                        : 0;
}

/* False: the manager has ended before. */
static bool
wait_a_moment(struct killer *k)
{
    struct timespec moment = {0, 20000};

    if (ended(k))
        return false;
    ppoll(NULL, 0, &moment, NULL);
    return true;
}

/* The same. */
static bool
wait_for_growth(struct killer *k)
{
    static const char *const names[] = {"command.log", "results.jsonl"};
    const char *name = names[draw(k, 4) == 0];
    long long begin = size_of(k, name), size = begin;
    long long until = begin + (long long)draw(k, name == names[0] ? 4000 : 400);
    uint64_t moments = draw(k, 3) == 0 ? draw(k, 1000) : UINT64_MAX;

    for (; moments > 0 && size >= begin && size < until; moments--) {
        if (!wait_a_moment(k))
            return false;
        size = size_of(k, name); /* less: another segment has begun */
    }
    return !ended(k);
}

/* Its number counts while it holds the lock. */
static bool
kill_dispatcher(struct killer *k, int signal)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct lockfile at = {.writer = {0, 0}};
    char path[8192];
    int fd, process = -1;
    bool done = false;

    snprintf(path, sizeof path, "%s/" LOCKFILE_NAME, k->folder);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && pread(fd, &at, sizeof at, 0) == sizeof at &&
        at.writer.pid != 0)
        process = (int)syscall(SYS_pidfd_open, (pid_t)at.writer.pid, 0);
    if (process >= 0 && fcntl(fd, F_OFD_GETLK, &lock) == 0 &&
        lock.l_type != F_UNLCK)
        done = syscall(SYS_pidfd_send_signal, process, signal, NULL, 0) == 0;
    if (process >= 0)
        close(process);
    if (fd >= 0)
        close(fd);
    return done;
}

/* Of the manager's children; they are ours when it is dead. */
static void
kill_orphans(void)
{
    char path[64], text[4096];
    ssize_t n;
    int fd;

    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    do {
        fd = open(path, O_RDONLY | O_CLOEXEC);
        n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
        text[n > 0 ? n : 0] = '\0';
        for (char *at = text, *end; *at != '\0'; at = end) {
            long pid = strtol(at, &end, 10);

            if (end == at)
                break;
            kill((pid_t)pid, SIGKILL);
        }
        close(fd);
    } while (waitpid(-1, NULL, 0) > 0);
}

/* Nobody writes any more. */
static void
lose_power(struct killer *k)
{
    char seed[32], log[8192], results[8192];
    int status;
    pid_t pid;

    kill_orphans();
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)draw(k, 1000000));
    snprintf(log, sizeof log, "%s/command.log", k->folder);
    snprintf(results, sizeof results, "%s/results.jsonl", k->folder);
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        execl(k->powercut, k->powercut, seed, log, results, (char *)NULL);
        _exit(127);
    }
    if (waitpid(pid, &status, 0) != pid || status != 0)
        exit(98);
}

/* The verb returns when the manager has ended. */
static void
stop(struct killer *k)
{
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        execl(k->tunepipe, k->tunepipe, "stop", k->folder, (char *)NULL);
        _exit(127);
    }
    waitpid(pid, NULL, 0);
}

/* Before it listens there is nobody that `tunepipe stop` could tell. */
static bool
has_socket(struct killer *k)
{
    char path[8192];

    snprintf(path, sizeof path, "%s/control", k->folder);
    return access(path, F_OK) == 0;
}

static void
strike(struct killer *k)
{
    static const int signals[] = {SIGKILL, SIGKILL, SIGTERM, SIGINT, 0, 0};
    enum victim victim = (enum victim)draw(k, VICTIMS);
    int signal = k->interrupts ? signals[draw(k, 6)] : SIGKILL;

    if (k->powercut != NULL)
        victim = BOTH;
    if (signal == 0)
        victim = MANAGER;
    if (victim != MANAGER && !kill_dispatcher(k, signal))
        victim = MANAGER;
    k->killed[victim]++;
    if (victim == DISPATCHER && signal == SIGKILL)
        return;
    if (signal == 0 && has_socket(k))
        stop(k);
    else if (victim != DISPATCHER) /* else its manager ends for want of it */
        kill(k->manager, signal == 0 ? SIGTERM : signal);
    waitpid(k->manager, &k->status, 0);
    if (k->powercut != NULL)
        lose_power(k);
    start(k, "resume", k->folder);
}

int
main(int argc, char **argv)
{
    struct killer k = {.folder = ""};
    bool going = true;

    if (argc != 5 && argc != 6) {
        fprintf(stderr, "usage: killer SEED KILLS TUNEPIPE CONFIG "
                        "[POWERCUT | --interrupt]\n");
        return 2;
    }
    k.state = strtoull(argv[1], NULL, 10);
    k.tunepipe = argv[3];
    k.interrupts = argc == 6 && strcmp(argv[5], "--interrupt") == 0;
    k.powercut = k.interrupts ? NULL : argv[5];
    if (k.powercut != NULL)
        prctl(PR_SET_CHILD_SUBREAPER, 1);
    alarm(PATIENCE_S);
    start(&k, "run", argv[4]);
    while (size_of(&k, "command.lock") == 0 && (going = !ended(&k)))
        poll(NULL, 0, 1);
    for (unsigned long left = strtoul(argv[2], NULL, 10); going && left > 0;
         left--) {
        going = wait_for_growth(&k);
        if (going)
            strike(&k);
    }
    if (going)
        waitpid(k.manager, &k.status, 0);
    printf("killed: %u dispatchers, %u managers, %u of both\n",
           k.killed[DISPATCHER], k.killed[MANAGER], k.killed[BOTH]);
    return WIFEXITED(k.status) ? WEXITSTATUS(k.status) : 99;
}

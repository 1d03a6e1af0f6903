/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "core/process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Starts how.argv (NULL: /bin/sh -c COMMAND), whose output becomes the file
 * `out` unless how.files say otherwise, and waits for its end.  Its exit
 * status; -1: it was not started. */
static int
run(struct process_spawn how, const char *command)
{
    const char *const argv[] = {"/bin/sh", "-c", command, NULL};
    int pidfd, out = -1;
    siginfo_t end;

    if (how.argv == NULL)
        how.argv = argv;
    if (how.files[1] == 0) {
        out = open("out", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        how.files[0] = PROCESS_NULL;
        how.files[1] = out;
        how.files[2] = PROCESS_OURS;
    }
    if (process_spawn(&how, &pidfd, NULL) < 0)
        return -1;
    if (out >= 0)
        close(out);
    end = process_reap(&pidfd);
    CHECK_EQ(pidfd, -1);
    return end.si_code == CLD_EXITED ? end.si_status : 128 + end.si_status;
}

static const char *
text_of(const char *file)
{
    static char text[4096];
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, text, sizeof text - 1);

    text[n > 0 ? n : 0] = '\0';
    close(fd);
    return text;
}

TEST(process_inherits_nothing_that_is_close_on_exec)
{
    CHECK(open("ours", O_WRONLY | O_CREAT | O_CLOEXEC, 0600) > 2);
    CHECK_EQ(run((struct process_spawn){0}, "ls -l /proc/$$/fd"), 0);
    CHECK_HAS(text_of("out"), "/out\n");
    CHECK(strstr(text_of("out"), "/ours") == NULL);
}

/* What goes to 1 lies at 2, what goes to 2 at 1; and 0 stays where it is,
 * though it would be closed. */
TEST(process_descriptors_may_lie_where_others_go)
{
    int one = open("one", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    int two = open("two", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    int words = fcntl(2, F_DUPFD_CLOEXEC, 3);
    int zero = open("/dev/null", O_RDONLY | O_CLOEXEC), status;

    CHECK(dup3(one, 2, O_CLOEXEC) == 2 && dup3(two, 1, O_CLOEXEC) == 1);
    CHECK_EQ(dup3(zero, 0, O_CLOEXEC), 0);
    status = run((struct process_spawn){.files = {0, 2, 1}},
                 "echo one; echo two >&2; [ -e /proc/$$/fd/0 ]");
    CHECK(dup2(words, 2) == 2 && dup2(words, 1) == 1);
    CHECK_EQ(status, 0);
    CHECK_STR(text_of("one"), "one\n");
    CHECK_STR(text_of("two"), "two\n");
}

/* The signals of a line of /proc/PID/status, one a bit; libc's own two, 32 and
 * 33, which nobody can reset by it, left out. */
static uint64_t
signals_of(const char *name)
{
    const char *line = strstr(text_of("out"), name);

    CHECK(line != NULL);
    return strtoull(line + strlen(name), NULL, 16) & ~(UINT64_C(3) << 31);
}

TEST(process_has_signals_as_at_a_login)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    CHECK_EQ(run((struct process_spawn){.blocked = SIGTERM},
                 "exec cat /proc/self/status"),
             0);
    CHECK_EQ(signals_of("SigBlk:"), UINT64_C(1) << (SIGTERM - 1));
    CHECK_EQ(signals_of("SigIgn:"), 0);
    sigprocmask(SIG_SETMASK, NULL, &set); /* ours are as they were */
    CHECK(sigismember(&set, SIGUSR1) == 1 && sigismember(&set, SIGTERM) == 0);
}

TEST(process_leads_a_group_or_a_session)
{
    char command[128];

    snprintf(command, sizeof command,
             "set -- $(cut -d' ' -f5,6 /proc/$$/stat); "
             "[ $1 = $$ ] && [ $2 = %d ]",
             (int)getsid(0));
    CHECK_EQ(run((struct process_spawn){0}, command), 0);
    CHECK_EQ(run((struct process_spawn){.session = true},
                 "set -- $(cut -d' ' -f5,6 /proc/$$/stat); "
                 "[ $1 = $$ ] && [ $2 = $$ ]"),
             0);
}

TEST(process_runs_in_its_folder_with_its_environment)
{
    char ours[] = "OURS=1", other[] = "OTHER=2";
    char *vars[] = {ours, other, NULL}, **env;
    const char *const unset[] = {"GONE", NULL};

    setenv("OURS", "0", 1);
    setenv("OURSELVES", "3", 1);
    setenv("GONE", "4", 1);
    env = process_environment(vars, unset);
    CHECK_EQ(mkdir("inner", 0700), 0);
    CHECK_EQ(run((struct process_spawn){.env = env, .folder = "inner"},
                 "echo $OURS $OTHER $OURSELVES $GONE; basename \"$(pwd)\""),
             0);
    CHECK_STR(text_of("out"), "1 2 3\ninner\n");
    free(env);
}

TEST(process_that_is_tied_dies_with_us)
{
    const char *const argv[] = {"sleep", "1000", NULL};
    int ends[2], pidfd;
    pid_t pid;
    char c;

    CHECK_EQ(pipe2(ends, O_CLOEXEC), 0);
    pid = process_fork(&pidfd);
    if (pid == 0) {
        const struct process_spawn how = {
            .argv = argv,
            .along_path = true,
            .files = {PROCESS_NULL, ends[1], PROCESS_NULL},
            .tied = true,
        };

        _exit(process_spawn(&how, NULL, NULL) > 0 ? 7 : 1);
    }
    CHECK(pid > 0);
    CHECK_EQ(process_reap(&pidfd).si_status, 7);
    close(ends[1]);
    CHECK_EQ(read(ends[0], &c, 1), 0); /* at once, and not in 1000 s */
}

static int
limit(const void *arg)
{
    return setrlimit(RLIMIT_CORE, arg) == 0 ? 0 : 5;
}

TEST(process_is_made_ready_by_a_function)
{
    const struct rlimit none = {0, 0}, wrong = {2, 1};
    const char *const argv[] = {"true", NULL};
    const struct process_spawn how = {
        .argv = argv, .ready = limit, .arg = &wrong};
    struct process_failure why;

    CHECK_EQ(run((struct process_spawn){.ready = limit, .arg = &none},
                 "[ $(ulimit -c) = 0 ]"),
             0);
    CHECK_EQ(process_spawn(&how, NULL, &why), -1);
    CHECK_EQ(why.step, PROCESS_READY);
    CHECK_EQ(why.ready, 5);
    CHECK_EQ(why.number, EINVAL);
}

static void
check_failure(struct process_spawn how, enum process_step step, int number)
{
    struct process_failure why;
    int pidfd = -7;

    CHECK_EQ(process_spawn(&how, &pidfd, &why), -1);
    CHECK_EQ(errno, number);
    CHECK_EQ(why.number, number);
    CHECK_EQ(why.step, step);
    CHECK_EQ(pidfd, -7);
    CHECK_EQ(waitpid(-1, NULL, WNOHANG), -1); /* no process is left */
}

TEST(process_tells_what_could_not_be_done)
{
    const char *const missing[] = {"./no-such", NULL};
    const char *const found[] = {"true", NULL};

    check_failure((struct process_spawn){.argv = missing}, PROCESS_BEGUN,
                  ENOENT);
    check_failure((struct process_spawn){.argv = found}, PROCESS_BEGUN, ENOENT);
    check_failure((struct process_spawn){.argv = found, .folder = "nowhere"},
                  PROCESS_FOLDER, ENOENT);
    check_failure((struct process_spawn){.argv = found, .files = {999, 1, 2}},
                  PROCESS_FILES, EBADF);
    CHECK_EQ(run((struct process_spawn){.argv = found, .along_path = true}, ""),
             0);
}

/* The least descriptor that is free. */
static int
next_free(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    close(fd);
    return fd;
}

TEST(process_has_pipes_to_us)
{
    const char *const argv[] = {
        "/bin/sh", "-c", "read -r x; echo \"has $x\"; echo none >&2", NULL};
    int pipes[3], pidfd;
    const struct process_spawn how = {
        .argv = argv,
        .files = {PROCESS_PIPE, PROCESS_PIPE, PROCESS_PIPE},
        .pipes = pipes};
    char text[32] = "";

    CHECK(process_spawn(&how, &pidfd, NULL) > 0);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(fcntl(pipes[i], F_GETFD), FD_CLOEXEC);
    CHECK_EQ(write(pipes[0], "a word\n", 7), 7);
    process_reap(&pidfd);
    CHECK_EQ(read(pipes[1], text, sizeof text), 11);
    CHECK_STR(text, "has a word\n");
    CHECK_EQ(read(pipes[2], text, sizeof text), 5);
    CHECK_EQ(read(pipes[2], text, sizeof text), 0); /* nobody else has it */
}

TEST(process_that_does_not_start_leaves_no_pipes)
{
    const char *const argv[] = {"/bin/no such program", NULL};
    int pipes[3], before = next_free();
    struct process_spawn how = {
        .argv = argv,
        .files = {PROCESS_PIPE, PROCESS_NULL, PROCESS_PIPE},
        .pipes = pipes};

    check_failure(how, PROCESS_BEGUN, ENOENT);
    CHECK_EQ(next_free(), before);
    CHECK_EQ(pipes[1], -1);
    CHECK(setrlimit(RLIMIT_NOFILE, &(struct rlimit){(rlim_t)before + 3,
                                                    (rlim_t)before + 3}) == 0);
    check_failure(how, PROCESS_PIPED, EMFILE);
    CHECK_EQ(next_free(), before);
}

TEST(process_that_cannot_be_made_now_says_so)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
#ifdef SYS_vfork
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_vfork, 3, 0),
#else
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, UINT32_MAX, 3, 0),
#endif
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                 offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_VFORK, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    const char *const argv[] = {"/bin/true", NULL};

#ifdef __SANITIZE_THREAD__
    SKIP("its vfork is a fork here");
#endif
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        SKIP("no filters of system calls here");
    check_failure((struct process_spawn){.argv = argv}, PROCESS_MADE, EAGAIN);
}

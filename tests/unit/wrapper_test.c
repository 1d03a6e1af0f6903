/* SPDX-License-Identifier: MIT */
/* How a trial starts and ends under the wrapper. */
#include "wrapper_run.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>

/* Runs the script to its own end, and checks how that reads. */
static void
check_run(const char *script, const char *want)
{
    struct run run = start(LONG_MS, LONG_MS, script);

    CHECK_EQ(wait_exit(&run), 0);
    CHECK_STR(first_line(), want);
}

static void
check_mode(const char *path, int mode)
{
    struct stat st;

    CHECK_EQ(stat(path, &st), 0);
    CHECK_EQ(st.st_mode & 07777, mode);
}

TEST(wrapper_tells_the_exit_status)
{
    long long started, ended_ns, rss, user, sys;

    umask(0);
    check_run("echo out; echo bad >&2; read x; exit 7", "exited 7");
    CHECK_STR(slurp("trial/" TRIAL_STDOUT), "out\n");
    CHECK_STR(slurp("trial/" TRIAL_STDERR), "bad\n");
    CHECK_EQ(sscanf(slurp("trial/" TRIAL_EXIT),
                    "exited 7\nstarted_ns %lld\nended_ns %lld\nmaxrss_kb "
                    "%lld\nuser_us %lld\nsystem_us %lld\n",
                    &started, &ended_ns, &rss, &user, &sys),
             5);
    CHECK(started > 0 && ended_ns > started && rss > 0);
    CHECK(user >= 0 && sys >= 0 && user + sys > 0);
    check_mode("trial/" TRIAL_STDOUT, 0600);
    check_mode("trial/" TRIAL_STDERR, 0600);
    check_mode("trial/" TRIAL_EXIT, 0600);
    CHECK(access("trial/" TRIAL_WRAPPER_PID, F_OK) != 0);
}

TEST(wrapper_tells_the_signal)
{
    check_run("kill -SEGV $$", "signalled 11");
}

TEST(wrapper_tells_why_a_program_could_not_start)
{
    const char *wrapper = t_build(TRIAL_WRAPPER_PROGRAM);
    struct run run;

    make_folder();
    run.lease = take_lease();
    run.pid = fork();
    if (run.pid == 0) {
        execl(wrapper, wrapper, "--dir", "trial", "--cwd", ".", "--grace-ms",
              "1", "--adopt-ms", "1000", "--", "./no\nsuch", (char *)NULL);
        _exit(126);
    }
    CHECK_EQ(wait_exit(&run), 0);
    CHECK_STR(first_line(), "unstarted ./no such: No such file or directory");
}

/* The process, and what it starts, makes no more processes by vfork(2). */
static void
forbid_vfork(void)
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

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(77);
}

TEST(wrapper_that_can_make_no_process_now_says_later)
{
    const char *wrapper = t_build(TRIAL_WRAPPER_PROGRAM);
    struct run run;
    int status;

#ifdef __SANITIZE_THREAD__
    SKIP("its vfork is a fork here");
#endif
    make_folder();
    run.lease = take_lease();
    run.pid = fork();
    if (run.pid == 0) {
        forbid_vfork();
        execl(wrapper, wrapper, "--dir", "trial", "--cwd", ".", "--grace-ms",
              "1", "--adopt-ms", "1000", "--", "true", (char *)NULL);
        _exit(126);
    }
    status = wait_exit(&run);
    if (status == 77)
        SKIP("no filters of system calls here");
    CHECK_EQ(status, TRIAL_WRAPPER_LATER);
    CHECK_STR(slurp("trial/" TRIAL_STDERR),
              TRIAL_WRAPPER_SAYS "cannot make a process: Resource temporarily "
                                 "unavailable\n");
    CHECK(access("trial/" TRIAL_EXIT, F_OK) != 0);
    CHECK(access("trial/" TRIAL_WRAPPER_PID, F_OK) != 0);
}

/* What its end needs is there before the trial begins. */
TEST(wrapper_has_room_for_the_end_before_the_beginning)
{
    struct stat st;

    check_run("stat -c '%b %s' trial/" TRIAL_WRAPPER_PID " > blocks",
              "exited 0");
    CHECK(atoi(slurp("blocks")) * 512 >=
          atoi(strchr(slurp("blocks"), ' ')) + 512);
    CHECK_EQ(stat("trial/" TRIAL_EXIT, &st), 0);
    CHECK(st.st_size > (off_t)strlen(slurp("trial/" TRIAL_EXIT)));
}

TEST(wrapper_writes_through_no_link)
{
    CHECK_EQ(system("echo mine > victim && echo his > other"), 0);
    check_run("rm -f trial/" TRIAL_WRAPPER_PID " trial/" TRIAL_EXIT
              " && ln -s ../victim trial/" TRIAL_WRAPPER_PID
              " && ln -s ../other trial/" TRIAL_EXIT,
              "exited 0");
    CHECK_STR(slurp("victim"), "mine\n");
    CHECK_STR(slurp("other"), "his\n");
    check_mode("trial/" TRIAL_EXIT, 0600);
    CHECK(readlink("trial/" TRIAL_EXIT, (char[16]){0}, 16) < 0);
}

/* What ran there before, such as prepareCommand, may have left it. */
static void
check_left(const char *name, const char *say)
{
    const char *wrapper = t_build(TRIAL_WRAPPER_PROGRAM);
    char command[2048];

    CHECK_EQ(system("rm -rf trial ready; mkdir trial; mkfifo trial/lease"), 0);
    snprintf(command, sizeof command,
             "echo mine > victim; ln -s ../victim 'trial/%s'; exec 9<> "
             "trial/lease; '%s' --dir trial --cwd . --grace-ms 1 --adopt-ms "
             "1000 -- /bin/sh -c 'echo a; echo b >&2' 2> message; cat victim; "
             "head -n 1 trial/exit >> message",
             name, wrapper);
    CHECK_EQ(system(command), 0);
    CHECK_STR(slurp("victim"), "mine\n");
    CHECK_HAS(slurp("message"), say);
}

TEST(wrapper_follows_no_link_that_it_finds)
{
    check_left(TRIAL_STDOUT, "unstarted cannot open stdout: Too many levels");
    check_left(TRIAL_STDERR, "unstarted cannot open stderr: Too many levels");
    check_left(TRIAL_WRAPPER_PID, "exited 0");
    check_left(TRIAL_EXIT, "exited 0");
}

TEST(wrapper_refuses_bad_arguments)
{
    static const char *const bad[][4] = {
        {"--dir missing", "missing: No such file"},
        {"--dir trial --cwd . --grace-ms 1 --adopt-ms 1 --lease", "'--lease'"},
        {"--dir trial --cwd . --grace-ms 1 --adopt-ms -1", "'-1'"},
        {"--dir trial --cwd . --grace-ms 1x --adopt-ms 1", "'1x'"},
        {"--dir trial --cwd . --grace-ms 1 --adopt-ms 1 --nice 3", "'--nice'"},
        {"--dir trial --cwd . --grace-ms 1", "'--adopt-ms'"},
        {"--dir trial --cwd", "'--cwd'"},
        {"--cwd . --grace-ms 1 --adopt-ms 1", "'--dir'"},
    };
    char command[1024];

    make_folder();
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        snprintf(command, sizeof(command),
                 "'%s' %s%s -- true 2>message; test $? = 2",
                 t_build(TRIAL_WRAPPER_PROGRAM), bad[i][0],
                 i == 0 ? " --cwd . --grace-ms 1 --adopt-ms 1" : "");
        CHECK_EQ(system(command), 0);
        CHECK_HAS(slurp("message"), bad[i][1]);
        CHECK(strchr(slurp("message"), '\n')[1] == '\0');
    }
    snprintf(command, sizeof(command),
             "'%s' --dir trial --cwd . --grace-ms 1 --adopt-ms 1 -- 2>message; "
             "test $? = 2",
             t_build(TRIAL_WRAPPER_PROGRAM));
    CHECK_EQ(system(command), 0);
    CHECK_HAS(slurp("message"), "-- PROGRAM");
    CHECK(access("trial/" TRIAL_WRAPPER_PID, F_OK) != 0);
}

TEST(wrapper_serves_nobody_without_a_socket)
{
    char command[1024];

    snprintf(command, sizeof command, "'%s' --serve room < /dev/null",
             t_build(TRIAL_WRAPPER_PROGRAM));
    CHECK_EQ(system(command), 0);
}

TEST(wrapper_cleans_what_it_inherits_for_the_trial)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    unsigned long long blocked = 1, ignored = 1;
    struct run run;
    sigset_t all;
    long a, b;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    sigaction(SIGCHLD, &ignore, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGTERM, &ignore, NULL);
    CHECK(dup2(1, 77) == 77); /* without close-on-exec */
    run = start(LONG_MS, LONG_MS,
                "echo 1 1 > ready; ls /proc/$$/fd; "
                "exec grep -E '^Sig(Blk|Ign)' /proc/self/status");
    /* before it can end: who ignores SIGCHLD has no child to wait for */
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    wait_ready(&a, &b);
    CHECK_EQ(wait_exit(&run), 0);
    CHECK_STR(first_line(), "exited 0");
    CHECK_EQ(sscanf(slurp("trial/" TRIAL_STDOUT),
                    "0\n1\n2\nSigBlk:\t%llx\nSigIgn:\t%llx\n", &blocked,
                    &ignored),
             2);
    CHECK_EQ(blocked, 0);
    /* 32 and 33 are libc's own: nobody but libc can set them. */
    CHECK_EQ(ignored & ~(3ull << 31), 0);
}

TEST(wrapper_says_who_it_is)
{
    struct run run =
        start(LONG_MS, LONG_MS, "echo 1 1 > ready; read x < ready");
    long a, b, pid;
    unsigned long long start_time, want;
    char path[64];

    wait_ready(&a, &b);
    CHECK_EQ(sscanf(slurp("trial/" TRIAL_WRAPPER_PID), "%ld %llu\n", &pid,
                    &start_time),
             2);
    CHECK_EQ(pid, run.pid);
    snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
    CHECK_EQ(sscanf(slurp(path),
                    "%*d (tunepipe-wrap) %*c %*d %*d %*d %*d %*d %*u %*u %*u "
                    "%*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
                    &want),
             1);
    CHECK_EQ(start_time, want);
    CHECK_EQ(getsid((pid_t)pid), pid);
    kill(run.pid, SIGTERM);
    CHECK_EQ(wait_exit(&run), 0);
}

TEST(wrapper_stops_a_trial_at_once)
{
    struct run run = start(LONG_MS, LONG_MS,
                           "trap 'exit 5' TERM; echo $$ $$ > ready; "
                           "while :; do read x < ready; done");
    long a, b;

    wait_ready(&a, &b);
    CHECK_EQ(kill(run.pid, SIGTERM), 0);
    CHECK_EQ(wait_exit(&run), 0);
    CHECK_STR(first_line(), "exited 5");
}

TEST(wrapper_kills_after_the_grace_period)
{
    struct run run = start("50", LONG_MS,
                           "trap '' TERM; echo $$ $$ > ready; "
                           "while :; do read x < ready; done");
    long a, b;

    wait_ready(&a, &b);
    CHECK_EQ(kill(run.pid, SIGTERM), 0);
    CHECK_EQ(wait_exit(&run), 0);
    CHECK_STR(first_line(), "signalled 9");
}

TEST(wrapper_kills_at_once_when_asked_again)
{
    struct run run = start(LONG_MS, LONG_MS,
                           "trap 'echo $$ $$ > ready' TERM; "
                           "echo $$ $$ > ready; "
                           "while :; do read x < ready; done");
    long a, b;

    wait_ready(&a, &b);
    CHECK_EQ(kill(run.pid, SIGTERM), 0);
    wait_ready(&a, &b); /* the first one has reached the trial */
    CHECK_EQ(kill(run.pid, SIGTERM), 0);
    CHECK_EQ(wait_exit(&run), 0);
    CHECK_STR(first_line(), "signalled 9");
}

/* What was sent to it is read, and it waits for more. */
static void
wait_heard(pid_t wrapper)
{
    unsigned long long pending = 1;
    char path[64], state = 0;
    const char *text;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)wrapper);
    while (pending != 0 || (state != 'S' && state != 'Z')) {
        text = slurp(path);
        CHECK_EQ(sscanf(strstr(text, "\nState:"), "\nState: %c", &state), 1);
        CHECK_EQ(sscanf(strstr(text, "\nShdPnd:"), "\nShdPnd: %llx", &pending),
                 1);
    }
}

/* As all in a control group are, the manager among them. */
TEST(wrapper_takes_a_signal_to_all_for_one)
{
    struct run run = start(LONG_MS, LONG_MS,
                           "trap 'echo $$ $$ > ready; read x < ready; exit 5' "
                           "TERM; echo $$ $$ > ready; "
                           "while :; do read x < ready; done");
    pid_t system;
    long a, b;
    int fd;

    wait_ready(&a, &b);
    system = fork();
    if (system == 0)
        _exit(kill(run.pid, SIGTERM));
    CHECK_EQ(waitpid(system, NULL, 0), system);
    wait_ready(&a, &b);
    CHECK_EQ(kill(run.pid, SIGTERM), 0);
    wait_heard(run.pid);
    fd = open("ready", O_RDWR | O_CLOEXEC);
    CHECK_EQ(write(fd, "x\n", 2), 2);
    CHECK_EQ(wait_exit(&run), 0);
    CHECK_STR(first_line(), "exited 5");
    close(fd);
}

/* Blocks until the FIFO has a writer, which nobody is. */
#define HANG "read x < hang"

/* A process that left session, group and parent, and does not hear SIGTERM. */
#define DAEMON                                                           \
    "mkfifo hang; (setsid sh -c 'trap \"\" TERM; echo $$ '$$' > ready; " \
    "while :; do " HANG "; done' &); "

TEST(wrapper_ends_daemons_of_a_trial_that_ended)
{
    struct run run = start("50", LONG_MS, DAEMON "read x < hang; exit 3");
    long daemon, trial;
    int daemon_fd;

    wait_ready(&daemon, &trial);
    daemon_fd = pidfd_of((pid_t)daemon);
    CHECK(getsid((pid_t)daemon) == daemon);
    CHECK_EQ(kill((pid_t)trial, SIGUSR1), 0);
    CHECK_EQ(wait_exit(&run), 0);
    CHECK_STR(first_line(), "signalled 10");
    CHECK(ended(daemon_fd, 0));
    CHECK_EQ(kill((pid_t)daemon, 0), -1); /* no zombie either */
    CHECK_EQ(errno, ESRCH);
}

TEST(wrapper_stops_daemons_with_the_trial)
{
    struct run run = start("50", LONG_MS, DAEMON HANG);
    long daemon, trial;

    wait_ready(&daemon, &trial);
    CHECK_EQ(kill(run.pid, SIGTERM), 0);
    CHECK_EQ(wait_exit(&run), 0);
    CHECK_STR(first_line(), "signalled 15");
    CHECK_EQ(kill((pid_t)daemon, 0), -1);
    CHECK_EQ(kill((pid_t)trial, 0), -1);
}

TEST(wrapper_ends_a_tree_that_keeps_forking)
{
    /* Each generation leaves two orphans and goes. */
    struct run run =
        start("0", LONG_MS,
              "cat > grow <<'EOF'\ntrap '' TERM\n"
              "test \"$1\" = 0 && exec sleep 1000\n"
              "for i in 1 2; do setsid sh ./grow $(($1 - 1)) & done\n"
              "sleep 1000\nEOF\n"
              "sh ./grow 5 & echo $$ $! > ready; wait");
    long trial, other;
    char line[64];

    wait_ready(&trial, &other);
    CHECK_EQ(kill(run.pid, SIGTERM), 0);
    CHECK_EQ(wait_exit(&run), 0);
    CHECK(snprintf(line, sizeof(line), "%s", first_line()) > 0);
    CHECK_HAS(line, "signalled ");
    CHECK_EQ(kill((pid_t)other, 0), -1);
    /* Everything that was below the wrapper would be our child now. */
    CHECK_EQ(waitpid(-1, NULL, WNOHANG), -1);
    CHECK_EQ(errno, ECHILD);
}

TEST(wrapper_killed_takes_the_trial_along)
{
    struct run run;
    long trial, same;
    int trial_fd;

    prctl(PR_SET_CHILD_SUBREAPER, 1); /* to see the orphan's end */
    run = start(LONG_MS, LONG_MS,
                "trap '' TERM; echo $$ $$ > ready; read x < ready");
    wait_ready(&trial, &same);
    trial_fd = pidfd_of((pid_t)trial);
    CHECK_EQ(kill(run.pid, SIGKILL), 0);
    CHECK_EQ(wait_exit(&run), 128 + SIGKILL);
    CHECK(ended(trial_fd, 30000));
    CHECK(access("trial/" TRIAL_EXIT, F_OK) != 0);
}

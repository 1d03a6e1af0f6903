/* SPDX-License-Identifier: MIT */
#include "core/hold.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/process.h"
#include "t.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

NOT_UNDER_TSAN;

#define NOTE "file" HOLD_ENDING
#define TAKERS 8

/* From here on flock(2) fails as where a file system has no locks. */
static int
open_without_locks(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_flock, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOLCK),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {sizeof code / sizeof *code, code};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        SKIP("no filter for system calls");
    return open("file", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
}

static enum hold_word
take(struct hold *h, int fd, struct err *err)
{
    *err = (struct err){0};
    return hold_take(h, fd, "file", HOLD_FLOCK, err);
}

static const char *
noted(void)
{
    static char said[1025];
    struct buf text;

    buf_init(&text, (size_t)1 << 20);
    CHECK_EQ(file_read(NOTE, 1024, &text, NULL), 0);
    snprintf(said, sizeof said, "%s", buf_text(&text));
    buf_fini(&text);
    return said;
}

TEST(hold_by_a_lock_leaves_no_file)
{
    int fd = open("file", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    int other = open("file", O_RDWR | O_CLOEXEC);
    struct hold h, second;
    struct err err;

    CHECK_EQ(take(&h, fd, &err), HOLD_TAKEN);
    CHECK(h.note == NULL);
    CHECK_EQ(take(&second, other, &err), HOLD_OTHERS);
    CHECK_EQ(err.code, ERR_NONE);
    CHECK(hold_is_others(other, HOLD_FLOCK));
    hold_drop(&h);
    close(fd);
    CHECK(!hold_is_others(other, HOLD_FLOCK));
    CHECK_EQ(hold_wait(&h, other, "file", LOCK_EX, &err), 0);
    CHECK(access(NOTE, F_OK) != 0);
}

TEST(hold_without_locks_is_a_file_that_names_its_process)
{
    int fd = open_without_locks();
    struct hold h, second;
    struct err err;
    char pid[32];

    CHECK_EQ(take(&h, fd, &err), HOLD_TAKEN);
    snprintf(pid, sizeof pid, " %d ", (int)getpid());
    CHECK_HAS(noted(), pid);
    CHECK(hold_is_others(fd, HOLD_FLOCK));
    CHECK_EQ(take(&second, fd, &err), HOLD_OTHERS);
    CHECK_EQ(err.code, ERR_NONE);
    CHECK(second.note == NULL);
    hold_drop(&h);
    CHECK(access(NOTE, F_OK) != 0);
    CHECK(!hold_is_others(fd, HOLD_FLOCK));
    CHECK_EQ(take(&h, fd, &err), HOLD_TAKEN);
    hold_drop(&h);
}

/* Of many one takes over what a dead process left; they live on until all have
 * tried. */
TEST(hold_left_behind_is_taken_over_once)
{
    int fd = open_without_locks(), tried[2], over[2], status;
    struct hold h;
    struct err err;
    char word;

    for (int round = 0; round < 20; round++) {
        int taken = 0;

        if (fork() == 0)
            _exit(take(&h, fd, &err) == HOLD_TAKEN ? 0 : 1);
        wait(&status);
        CHECK_EQ(status, 0);
        CHECK_EQ(access(NOTE, F_OK), 0);
        CHECK(!hold_is_others(fd, HOLD_FLOCK));
        CHECK(pipe(tried) == 0 && pipe(over) == 0);
        for (int i = 0; i < TAKERS; i++)
            if (fork() == 0) {
                close(over[1]);
                word = take(&h, fd, &err) == HOLD_TAKEN ? '1' : '0';
                if (write(tried[1], &word, 1) == 1)
                    while (read(over[0], &word, 1) > 0)
                        ;
                _exit(0);
            }
        for (int i = 0; i < TAKERS; i++) {
            CHECK_EQ(read(tried[0], &word, 1), 1);
            taken += word == '1';
        }
        CHECK_EQ(taken, 1);
        for (int i = 0; i < 2; i++) {
            close(tried[i]);
            close(over[i]);
        }
        while (wait(&status) > 0)
            ;
    }
}

TEST(hold_of_another_machine_is_refused)
{
    int fd = open_without_locks();
    const char *text = "another-boot pid:[1] 17 4711 node7\n";
    struct hold h;
    struct err err;

    CHECK_EQ(file_write(NOTE, text, strlen(text), &err), 0);
    CHECK(hold_is_others(fd, HOLD_FLOCK));
    CHECK_EQ(take(&h, fd, &err), HOLD_OTHERS);
    CHECK_STR(err.text,
              "file.held: process 17 of the machine node7 has it, and this "
              "file system has no locks by which to see from here whether "
              "that one lives: if it does not, rm 'file.held'");
    CHECK_EQ(hold_wait(&h, fd, "file", LOCK_EX, &err), -1);
    CHECK_HAS(err.text, "node7");
    CHECK_STR(noted(), text);
    CHECK_EQ(file_write(NOTE, "", 0, &err), 0); /* the power went */
    CHECK_EQ(take(&h, fd, &err), HOLD_OTHERS);
    CHECK_HAS(err.text, "does not say which process");
    unlink(NOTE);
    CHECK_EQ(symlink("elsewhere", NOTE), 0);
    CHECK_EQ(take(&h, fd, &err), HOLD_FAILED);
    CHECK(access("elsewhere", F_OK) != 0);
}

TEST(hold_waits_for_the_end_of_another)
{
    int fd = open_without_locks(), ready[2];
    struct hold h, second;
    struct err err;
    pid_t child;
    char c;

    CHECK_EQ(pipe(ready), 0);
    child = fork();
    if (child == 0) {
        take(&h, fd, &err);
        close(ready[1]);
        pause();
    }
    close(ready[1]);
    CHECK_EQ(read(ready[0], &c, 1), 0);
    CHECK_EQ(take(&h, fd, &err), HOLD_OTHERS);
    kill(child, SIGKILL);
    CHECK_EQ(hold_wait(&h, fd, "file", LOCK_EX, &err), 0);
    CHECK_EQ(take(&second, fd, &err), HOLD_OTHERS); /* it is ours */
    hold_drop(&h);
}

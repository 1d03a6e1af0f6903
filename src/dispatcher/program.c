/* SPDX-License-Identifier: MIT */
#include "dispatcher/program.h"

#include "core/err.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SEED_NAME "TUNEPIPE_SEED="
#define DIRECTION_NAME "TUNEPIPE_DIRECTION="

extern char **environ;

static bool
is_ours(const char *var)
{
    return strncmp(var, SEED_NAME, sizeof SEED_NAME - 1) == 0 ||
           strncmp(var, DIRECTION_NAME, sizeof DIRECTION_NAME - 1) == 0;
}

/* environ with the seed and, unless NULL, the direction; to be freed, none of
 * the texts is its own.  Made before fork(2), behind which nothing may be
 * allocated. */
static char **
make_environment(char *seed, char *direction)
{
    size_t n = 0, kept = 0;
    char **env;

    while (environ[n] != NULL)
        n++;
    env = calloc(n + 3, sizeof *env);
    if (env == NULL)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (!is_ours(environ[i]))
            env[kept++] = environ[i];
    env[kept++] = seed;
    env[kept] = direction;
    return env;
}

/* What a child becomes, and where. */
struct image {
    const char *const *argv;
    char *const *env;
    const char *folder; /* NULL: here */
};

/* In the child.  All other descriptors are close-on-exec. */
static void
become(const struct image *image, int in, int out, int failure, pid_t parent)
{
    sigset_t none;
    ssize_t told;

    setpgid(0, 0);
    for (int sig = 1; sig < NSIG; sig++)
        signal(sig, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent &&
        dup2(in, 0) == 0 && dup2(out, 1) == 1 &&
        (image->folder == NULL || chdir(image->folder) == 0))
        execvpe(image->argv[0], (char *const *)image->argv, image->env);
    told = write(failure, &errno, sizeof errno);
    _exit(told > 0 ? 127 : 126);
}

/* Both ends of three pipes: to it, from it, and what exec(2) says. */
enum { TO, FROM, FAILURE, N_PIPES };

static int
open_pipes(int ends[N_PIPES][2], struct err *err)
{
    for (int i = 0; i < N_PIPES; i++)
        ends[i][0] = ends[i][1] = -1;
    for (int i = 0; i < N_PIPES; i++)
        if (pipe2(ends[i], O_CLOEXEC) != 0)
            return err_errno(err, ERR_SYSTEM, "cannot make a pipe");
    return 0;
}

static void
close_pipes(int ends[N_PIPES][2])
{
    for (int i = 0; i < N_PIPES; i++)
        for (int j = 0; j < 2; j++)
            if (ends[i][j] >= 0)
                close(ends[i][j]);
}

/* Forks; 0 and *why 0 when exec(2) succeeded. */
static int
spawn(struct program *p, const struct image *image, int ends[N_PIPES][2],
      int *why)
{
    pid_t parent = getpid();
    ssize_t n;

    p->pid = fork();
    if (p->pid == 0)
        become(image, ends[TO][0], ends[FROM][1], ends[FAILURE][1], parent);
    *why = errno;
    if (p->pid < 0)
        return -1;
    close(ends[FAILURE][1]);
    ends[FAILURE][1] = -1;
    do
        n = read(ends[FAILURE][0], why, sizeof *why);
    while (n < 0 && errno == EINTR);
    if (n != sizeof *why)
        return 0;
    waitpid(p->pid, NULL, 0);
    return -1;
}

static int
watch(struct program *p, struct err *err)
{
    p->pidfd = (int)syscall(SYS_pidfd_open, p->pid, 0);
    if (p->pidfd >= 0)
        return 0;
    err_errno(err, ERR_SYSTEM, "cannot watch process %d", (int)p->pid);
    kill(-p->pid, SIGKILL);
    waitpid(p->pid, NULL, 0);
    return -1;
}

/* What failed, and what exec(2) does not tell of it. */
static int
refuse_start(const struct image *image, int why, struct err *err)
{
    const char *name = image->argv[0];
    const char *folder =
        image->folder != NULL ? image->folder : "the current folder";
    char text[128];
    const char *what = strerror_r(why, text, sizeof text);

    if (why == EACCES)
        return err_set(err, ERR_PLUGIN,
                       "%s: cannot start: %s (expected an executable file: "
                       "chmod +x, or its interpreter before it)",
                       name, what);
    if (why == ENOENT && strchr(name, '/') == NULL)
        return err_set(err, ERR_PLUGIN,
                       "%s: cannot start: %s (expected a program along PATH; "
                       "one in %s begins with ./)",
                       name, what, folder);
    if (why == ENOENT && name[0] != '/')
        return err_set(err, ERR_PLUGIN,
                       "%s: cannot start: %s (expected a path from %s, and in "
                       "a script's first line an interpreter that is there)",
                       name, what, folder);
    return err_set(err, ERR_PLUGIN, "%s: cannot start: %s", name, what);
}

int
program_start(struct program *p, const char *const *argv, const char *folder,
              uint64_t seed, const char *direction, size_t max_payload,
              struct err *err)
{
    int ends[N_PIPES][2], why = ENOMEM, rc = -1;
    char text[sizeof SEED_NAME + 20], word[sizeof DIRECTION_NAME + 20];
    char **env;

    snprintf(text, sizeof text, SEED_NAME "%" PRIu64, seed);
    snprintf(word, sizeof word, DIRECTION_NAME "%s",
             direction != NULL ? direction : "");
    env = make_environment(text, direction != NULL ? word : NULL);
    const struct image image = {argv, env, folder};
    if (open_pipes(ends, err) != 0) {
        rc = -1;
    } else if (env == NULL || spawn(p, &image, ends, &why) != 0) {
        refuse_start(&image, why, err);
    } else if (watch(p, err) == 0) {
        channel_adopt(&p->channel, ends[FROM][0], ends[TO][1]);
        ends[FROM][0] = ends[TO][1] = -1;
        frame_decoder_init(&p->decoder, FRAME_DIGITS, max_payload);
        p->closed = false;
        rc = 0;
    }
    close_pipes(ends);
    free(env);
    if (rc != 0)
        *p = (struct program)PROGRAM_NONE;
    return rc;
}

void
program_send(struct program *p, enum command_code code, const char *payload,
             size_t len)
{
    program_send_frame(p, command_info(code)->code, payload, len);
}

void
program_send_frame(struct program *p, const char code[2], const char *payload,
                   size_t len)
{
    if (p->pid != 0 && !p->leaving && !p->channel.out_gone)
        frame_encode(&p->channel.text, FRAME_DIGITS, code, payload, len);
}

void
program_write(struct program *p)
{
    size_t pending = channel_pending(&p->channel);

    if (pending > 0)
        channel_write(&p->channel, NULL);
    p->written += pending - channel_pending(&p->channel);
    if (p->leaving && p->channel.out >= 0 &&
        channel_pending(&p->channel) == 0) {
        close(p->channel.out);
        p->channel.out = -1;
    }
}

void
program_read(struct program *p)
{
    switch (channel_read(&p->channel, &p->decoder, NULL)) {
    case CHANNEL_OK:
    case CHANNEL_WAIT:
        return;
    case CHANNEL_EOF:
    case CHANNEL_ERROR:
        break;
    }
    p->closed = true;
}

uint64_t
program_received(const struct program *p)
{
    return p->decoder.offset + frame_pending(&p->decoder);
}

size_t
program_unread(const struct program *p)
{
    int n = 0;

    return ioctl(p->channel.in, FIONREAD, &n) == 0 && n > 0 ? (size_t)n : 0;
}

void
program_hang_up(struct program *p)
{
    p->leaving = true;
    program_write(p);
}

void
program_kill(struct program *p)
{
    if (p->pid > 0)
        kill(-p->pid, SIGKILL);
}

void
program_reap(struct program *p, char *how, size_t size)
{
    siginfo_t info = {0};

    kill(-p->pid, SIGKILL); /* what it started and left */
    while (waitid(P_PIDFD, (id_t)p->pidfd, &info, WEXITED) != 0 &&
           errno == EINTR)
        continue;
    if (info.si_code == CLD_EXITED)
        snprintf(how, size, "exit status %d", info.si_status);
    else
        snprintf(how, size, "killed by signal %d", info.si_status);
    close(p->pidfd);
    channel_close(&p->channel);
    frame_decoder_fini(&p->decoder);
    *p = (struct program)PROGRAM_NONE;
}

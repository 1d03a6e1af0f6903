/* SPDX-License-Identifier: MIT */
#include "dispatcher/program.h"

#include "core/err.h"
#include "core/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define SEED_NAME "TUNEPIPE_SEED"
#define DIRECTION_NAME "TUNEPIPE_DIRECTION"

/* Two pipes, both ends: to it and from it. */
enum { TO, FROM, N_PIPES };

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

/* What failed, and what exec(2) does not tell of it. */
static int
refuse_start(const struct process_spawn *how, int why, struct err *err)
{
    const char *name = how->argv[0];
    const char *folder =
        how->folder != NULL ? how->folder : "the current folder";
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

static int
spawn(struct program *p, const char *const *argv, const char *folder,
      char *const *env, int ends[N_PIPES][2], struct err *err)
{
    const struct process_spawn how = {
        .argv = argv,
        .along_path = true,
        .env = env,
        .folder = folder,
        .files = {ends[TO][0], ends[FROM][1], PROCESS_OURS},
        .tied = true,
    };

    if (env == NULL)
        return refuse_start(&how, ENOMEM, err);
    p->pid = process_spawn(&how, &p->pidfd, NULL);
    return p->pid > 0 ? 0 : refuse_start(&how, errno, err);
}

int
program_start(struct program *p, const char *const *argv, const char *folder,
              uint64_t seed, const char *direction, size_t max_payload,
              struct err *err)
{
    static const char *const unset[] = {DIRECTION_NAME, NULL};
    char number[sizeof SEED_NAME + 22], word[sizeof DIRECTION_NAME + 20];
    char *ours[] = {number, direction != NULL ? word : NULL, NULL};
    int ends[N_PIPES][2], rc;
    char **env;

    snprintf(number, sizeof number, SEED_NAME "=%" PRIu64, seed);
    snprintf(word, sizeof word, DIRECTION_NAME "=%s",
             direction != NULL ? direction : "");
    env = process_environment(ours, unset);
    rc = open_pipes(ends, err);
    if (rc == 0)
        rc = spawn(p, argv, folder, env, ends, err);
    if (rc == 0) {
        channel_adopt(&p->channel, ends[FROM][0], ends[TO][1]);
        ends[FROM][0] = ends[TO][1] = -1;
        frame_decoder_init(&p->decoder, FRAME_DIGITS, max_payload);
        p->closed = false;
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
    siginfo_t info;

    kill(-p->pid, SIGKILL); /* what it started and left */
    info = process_reap(&p->pidfd);
    if (info.si_code == CLD_EXITED)
        snprintf(how, size, "exit status %d", info.si_status);
    else
        snprintf(how, size, "killed by signal %d", info.si_status);
    channel_close(&p->channel);
    frame_decoder_fini(&p->decoder);
    *p = (struct program)PROGRAM_NONE;
}

/* SPDX-License-Identifier: MIT */
#include "dispatcher/program.h"

#include "core/err.h"
#include "core/file.h"
#include "core/process.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define SEED_NAME "TUNEPIPE_SEED"
#define DIRECTION_NAME "TUNEPIPE_DIRECTION"
#define OBJECTIVES_NAME "TUNEPIPE_OBJECTIVES_JSON"
#define JUDGED_NAME "TUNEPIPE_ASSESSOR_OBJECTIVE"
#define PYTHON_MODULE "tunepipe_tuner.py"

/* Says in err what failed, and what an errno of exec(2) does not tell of it. */
static int
refuse_start(const struct process_spawn *how,
             const struct process_failure *failure, struct err *err)
{
    int why = failure->number;
    const char *name = how->argv[0];
    const char *folder =
        how->folder != NULL ? how->folder : "the current folder";
    char text[128];
    const char *what = strerror_r(why, text, sizeof text);

    errno = why;
    if (failure->step == PROCESS_PIPED)
        return err_errno(err, ERR_SYSTEM, "cannot make a pipe");
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

/* PYTHONPATH=... with the folder of our module last, so that it hides none of
 * the user's; to be freed.  NULL: the module is not there. */
static char *
make_python_path(void)
{
    char *module = file_shared("tuners/exec", PYTHON_MODULE), *var = NULL;
    const char *path = getenv("PYTHONPATH");

    if (module == NULL)
        return NULL;
    *strrchr(module, '/') = '\0';
    if (path == NULL)
        path = "";
    if (asprintf(&var, "PYTHONPATH=%s%s%s", path, path[0] != '\0' ? ":" : "",
                 module) < 0)
        var = NULL;
    free(module);
    return var;
}

/* NAME=VALUE, to be freed; NULL: there is no value, or out of memory. */
static char *
make_variable(const char *name, const char *value)
{
    char *var;

    if (value == NULL || asprintf(&var, "%s=%s", name, value) < 0)
        return NULL;
    return var;
}

int
program_start(struct program *p, const char *const *argv, const char *folder,
              const struct program_told *told, size_t max_payload,
              struct err *err)
{
    static const char *const unset[] = {DIRECTION_NAME, OBJECTIVES_NAME,
                                        JUDGED_NAME, NULL};
    char number[sizeof SEED_NAME + 22], word[sizeof DIRECTION_NAME + 20];
    char *python_path = make_python_path(), *ours[6] = {number};
    char *objectives = make_variable(OBJECTIVES_NAME, told->objectives);
    char *judged = make_variable(JUDGED_NAME, told->judged);
    size_t n = 1;
    struct process_failure failure = {.step = PROCESS_MADE, .number = ENOMEM};
    int pipes[3];
    struct process_spawn how = {
        .argv = argv,
        .along_path = true,
        .folder = folder,
        .files = {PROCESS_PIPE, PROCESS_PIPE, PROCESS_OURS},
        .pipes = pipes,
        .tied = true,
    };
    char **env = NULL;

    snprintf(number, sizeof number, SEED_NAME "=%" PRIu64, told->seed);
    snprintf(word, sizeof word, DIRECTION_NAME "=%s",
             told->direction != NULL ? told->direction : "");
    if (told->direction != NULL)
        ours[n++] = word;
    if (objectives != NULL)
        ours[n++] = objectives;
    if (judged != NULL)
        ours[n++] = judged;
    if (python_path != NULL)
        ours[n++] = python_path;
    if ((objectives != NULL || told->objectives == NULL) &&
        (judged != NULL || told->judged == NULL))
        how.env = env = process_environment(ours, unset);
    p->pid = env != NULL ? process_spawn(&how, &p->pidfd, &failure) : -1;
    free(env);
    free(python_path);
    free(objectives);
    free(judged);
    if (p->pid < 0) {
        *p = (struct program)PROGRAM_NONE;
        return refuse_start(&how, &failure, err);
    }
    channel_adopt(&p->channel, pipes[1], pipes[0]);
    frame_decoder_init(&p->decoder, FRAME_DIGITS, max_payload);
    p->out_closed = false;
    return 0;
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
    p->out_closed = true;
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

    kill(-p->pid, SIGKILL); /* the children that it started and left */
    info = process_reap(&p->pidfd);
    if (info.si_code == CLD_EXITED)
        snprintf(how, size, "exit status %d", info.si_status);
    else
        snprintf(how, size, "killed by signal %d", info.si_status);
    channel_close(&p->channel);
    frame_decoder_fini(&p->decoder);
    *p = (struct program)PROGRAM_NONE;
}

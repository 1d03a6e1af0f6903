/* SPDX-License-Identifier: MIT */
#include "command.h"

#include "curves.h"

#include "core/buf.h"
#include "core/err.h"
#include "json.h"
#include "space/space.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int
spawn(struct curves *c, const char *command, int in, int out)
{
    char line[4096];
    const char *argv[] = {"sh", "-c", line, NULL};
    posix_spawn_file_actions_t actions;
    int rc;

    snprintf(line, sizeof line, "exec %s %s %" PRIu64, command, c->name,
             c->seed);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, 0);
    posix_spawn_file_actions_adddup2(&actions, out, 1);
    rc = posix_spawnp(&c->pid, "sh", &actions, NULL,
                      (char *const *)(uintptr_t)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

int
command_start(struct curves *c, const char *command, struct err *err)
{
    int in[2], out[2];

    signal(SIGPIPE, SIG_IGN);
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
        return err_errno(err, ERR_SYSTEM, "pipe");
    if (spawn(c, command, in[0], out[1]) != 0)
        return err_set(err, ERR_SYSTEM, "cannot start sh");
    close(in[0]);
    close(out[1]);
    c->to = fdopen(in[1], "w");
    c->from = fdopen(out[0], "r");
    return c->to != NULL && c->from != NULL
               ? 0
               : err_errno(err, ERR_SYSTEM, "fdopen");
}

void
command_stop(struct curves *c)
{
    if (c->to != NULL)
        fclose(c->to);
    if (c->from != NULL)
        fclose(c->from);
    waitpid(c->pid, NULL, 0);
}

struct json *
command_read(struct curves *c, struct err *err)
{
    struct json *doc = NULL;
    char *line = NULL;
    size_t room = 0;
    ssize_t len = getline(&line, &room, c->from);

    if (len <= 0)
        err_set(err, ERR_INPUT, "%s: its command has ended", c->name);
    else
        doc = json_parse(line, (size_t)len, JSON_NAN, err);
    free(line);
    return doc;
}

int
command_ask(struct curves *c, const double *x, double *observed,
            struct err *err)
{
    struct json *doc;
    struct buf text;
    int rc = 0;

    buf_init(&text, 65536);
    space_decode(c->space, x, &text);
    fprintf(c->to, "%s\n", buf_text(&text));
    fflush(c->to);
    buf_fini(&text);
    doc = command_read(c, err);
    if (doc == NULL)
        return -1;
    if (jval_count(json_root(doc)) != c->longest)
        rc =
            err_set(err, ERR_INPUT, "%s: a curve of the wrong length", c->name);
    for (size_t i = 0; rc == 0 && i < c->longest; i++)
        if (!jval_number(jval_at(json_root(doc), i), &observed[i]))
            rc = err_set(err, ERR_INPUT, "%s: a curve has no number", c->name);
    json_free(doc);
    return rc;
}

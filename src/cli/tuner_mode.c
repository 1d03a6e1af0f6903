/* SPDX-License-Identifier: MIT */
#include "cli/tuner_mode.h"

#include "config/experiment.h"
#include "plugin/loader.h"
#include "plugin/paths.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_S 10 /* for a file that never comes back from being loaded */

/* In the child: writes the default, as JSON, and ends. */
static void
tell(const char *name, int to)
{
    struct plugin_paths *paths = plugin_paths_new(NULL, NULL);
    struct plugin *p =
        paths == NULL ? NULL : plugin_load(paths, PLUGIN_TUNER, name, NULL);

    for (size_t i = 0; p != NULL && i < p->n_args; i++)
        if (strcmp(p->args[i].name, "optimize_mode") == 0 &&
            p->args[i].def != NULL)
            dprintf(to, "%s", p->args[i].def);
    _exit(0);
}

/* What the child wrote; "" when it died, or had nothing to say. */
static void
ask(const char *name, char *out, size_t size)
{
    size_t len = 0;
    int ends[2];
    ssize_t n;
    pid_t pid;

    out[0] = '\0';
    if (pipe(ends) != 0)
        return;
    pid = fork();
    if (pid == 0) {
        alarm(PATIENCE_S);
        close(ends[0]);
        close(STDOUT_FILENO); /* what a plugin prints is not for people */
        close(STDERR_FILENO);
        tell(name, ends[1]);
    }
    close(ends[1]);
    while (pid > 0 && len + 1 < size &&
           ((n = read(ends[0], out + len, size - 1 - len)) > 0 ||
            (n < 0 && errno == EINTR)))
        len += n > 0 ? (size_t)n : 0;
    out[len] = '\0';
    close(ends[0]);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}

void
tuner_mode_fill(struct experiment *x)
{
    const char *name =
        x->tuner.plugin != NULL ? x->tuner.plugin : x->tuner.name;
    char mode[32];

    if (strcmp(x->mode_from, EXPERIMENT_MODE_UNSAID) != 0 ||
        x->tuner.line == 0 || name == NULL)
        return;
    ask(name, mode, sizeof mode);
    if (strcmp(mode, "\"minimize\"") != 0 && strcmp(mode, "\"maximize\"") != 0)
        return;
    x->minimize = strcmp(mode, "\"minimize\"") == 0;
    x->mode_from = "the tuner's default";
}

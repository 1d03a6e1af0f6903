/* SPDX-License-Identifier: MIT */
#include "manager/indexing.h"

#include "config/experiment.h"
#include "core/err.h"
#include "core/file.h"
#include "manager/state.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>

/* Its signals are those of a login, not ours; a group of its own leaves Ctrl-C
 * to us. */
static void
set_attributes(posix_spawnattr_t *attr)
{
    sigset_t set;

    sigemptyset(&set);
    posix_spawnattr_setsigmask(attr, &set);
    sigaddset(&set, SIGPIPE);
    posix_spawnattr_setsigdefault(attr, &set);
    posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK |
                                       POSIX_SPAWN_SETSIGDEF |
                                       POSIX_SPAWN_SETPGROUP);
}

static int
spawn(char *const argv[], const char *words, struct err *err)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    pid_t pid;

    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, 2, words,
                                     O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawnattr_init(&attr);
    set_attributes(&attr);
    errno = posix_spawn(&pid, argv[0], &files, &attr, argv, environ);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    return errno == 0 ? 0
                      : err_errno(err, ERR_SYSTEM, "%s: cannot start", argv[0]);
}

void
indexing_start(struct manager *m)
{
    struct err err = {.text = "out of memory"};
    char *program, *words;
    int rc = -1;

    if (!m->x->index)
        return;
    program = file_join(m->launch.program_folder, "tunepipe");
    words = file_join(m->folder.path, FOLDER_INDEX_LOG);
    if (program != NULL && words != NULL)
        rc = spawn((char *const[]){program, (char *)"index", (char *)"--follow",
                                   m->folder.path, NULL},
                   words, &err);
    if (rc != 0)
        progress_warn(&m->progress, "tunepipe: warning: index: %s", err.text);
    free(words);
    free(program);
}

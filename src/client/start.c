/* SPDX-License-Identifier: MIT */
#include "client/start.h"

#include "core/err.h"
#include "core/file.h"
#include "core/process.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROGRAM "tunepipe"
#define ENV_PROGRAM "TUNEPIPE_PROGRAM"
#define SAID_MAX 8192

/* ---- the program ---- */

/* The folder that this code was loaded from, to be freed. */
static char *
own_folder(void)
{
    static const char here[] = "";
    Dl_info info;
    char *path, *folder;

    if (dladdr(here, &info) == 0)
        return NULL;
    /* The main program goes by its argv[0]. */
    if (strchr(info.dli_fname, '/') == NULL)
        return file_program_folder();
    path = realpath(info.dli_fname, NULL);
    folder = path == NULL ? NULL : file_folder(path);
    free(path);
    return folder;
}

/* A file; the libraries' folder has one of this name with plugins. */
static char *
program_in(const char *folder, const char *name)
{
    char *path = file_join(folder, name);
    struct stat st;

    if (path != NULL && stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
        access(path, X_OK) == 0)
        return path;
    free(path);
    return NULL;
}

char *
start_program(void)
{
    const char *named = getenv(ENV_PROGRAM);
    char *folder, *found = NULL;

    if (named != NULL && *named != '\0')
        return strdup(named);
    folder = own_folder();
    if (folder != NULL)
        found = program_in(folder, PROGRAM);
    if (folder != NULL && found == NULL)
        found = program_in(folder, "../bin/" PROGRAM);
    free(folder);
#ifdef TP_BINDIR
    if (found == NULL)
        found = program_in(TP_BINDIR, PROGRAM);
#endif
    return found != NULL ? found : strdup(PROGRAM);
}

/* ---- the process ---- */

/* A server outlives its client: it must hold nothing open that is the
 * client's. */
static int
close_others(const void *arg)
{
    (void)arg;
    process_close_others(4); /* CLOSE_RANGE_CLOEXEC */
    return 0;
}

int
start_begin(struct start *s, const char *folder, const char *config,
            struct err *err)
{
    char *program = start_program();
    const char *const argv[] = {
        program,   "study",
        folder, /* absolute: no option */
        "--serve", config != NULL ? "--config" : NULL,
        config,    NULL,
    };
    int pipes[3];
    const struct process_spawn how = {
        .argv = argv,
        .along_path = true,
        .files = {PROCESS_NULL, PROCESS_NULL, PROCESS_PIPE},
        .pipes = pipes,
        .ready = close_others,
    };
    int rc = 0;

    if (program == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    if (process_spawn(&how, &s->pidfd, NULL) < 0) {
        s->pidfd = -1;
        rc = err_errno(err, ERR_SYSTEM,
                       "cannot start '%s', the server's program, which "
                       "$" ENV_PROGRAM " may name",
                       program);
    } else {
        s->said_fd = pipes[2];
        fcntl(s->said_fd, F_SETFL, O_NONBLOCK);
    }
    free(program);
    return rc;
}

static enum err_code
code_of(int status)
{
    switch (status) {
    case 2:
        return ERR_USAGE;
    case 3:
        return ERR_CONFIG;
    case 5:
        return ERR_LOG;
    default:
        return ERR_SYSTEM;
    }
}

/* The sentence of the first error of a verb that said this; NULL: of none. */
static const char *
sentence(char *said)
{
    static const char mark[] = ": error: ";
    char *at = strstr(said, mark);

    if (at == NULL)
        return NULL;
    at += sizeof mark - 1;
    at[strcspn(at, "\n")] = '\0';
    return at;
}

int
start_end(struct start *s, struct err *err)
{
    siginfo_t end = process_reap(&s->pidfd);
    char said[SAID_MAX];
    ssize_t n = read(s->said_fd, said, sizeof said - 1);
    bool exited = end.si_pid != 0 && end.si_code == CLD_EXITED;
    const char *why;

    close(s->said_fd);
    s->said_fd = -1;
    said[n > 0 ? n : 0] = '\0';
    why = sentence(said);
    /* Its status may have been taken by the program that this is part of. */
    if (end.si_pid == 0 ? why == NULL : exited && end.si_status == 0)
        return 0;
    if (why != NULL)
        return err_set(err, exited ? code_of(end.si_status) : ERR_SYSTEM, "%s",
                       why);
    return err_set(err, ERR_SYSTEM, "the server was not started: %s %d",
                   exited ? "status" : "signal", end.si_status);
}

void
start_drop(struct start *s, bool ours)
{
    if (s->pidfd < 0)
        return;
    if (ours && process_kill(s->pidfd, SIGKILL))
        process_reap(&s->pidfd);
    else
        close(s->pidfd);
    s->pidfd = -1;
    close(s->said_fd);
    s->said_fd = -1;
}

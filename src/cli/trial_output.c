/* SPDX-License-Identifier: MIT */
#include "cli/trial_control.h"

#include "cli/attempt.h"
#include "cli/target.h"

#include "core/err.h"
#include "core/file.h"
#include "history/folder.h"
#include "manager/results.h"
#include "pack/packs.h"
#include "trial/files.h"
#include "trial/stderr_tail.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#define LOOK_MS \
    1000 /* at most, until it is seen that nobody runs it any more */

/* A trial's output that is printed. */
struct output {
    const char *experiment;
    const struct attempt *attempt;
    struct packs *packs; /* where it is when it is packed */
    char *folder;        /* of its last phase that began */
    char *path;
    int fd, events; /* events: inotify's; -1: it is not followed */
};

/* Goes behind a hole that maxTrialOutput has made. */
static void
pass_hole(int fd)
{
    off_t at = lseek(fd, 0, SEEK_CUR), data = lseek(fd, at, SEEK_DATA);

    if (data > at)
        printf("\n[... %lld bytes: see maxTrialOutput ...]\n",
               (long long)(data - at));
    else
        lseek(fd, at, SEEK_SET);
}

/* As much as lies before the next hole. */
static size_t
portion(int fd, size_t most)
{
    off_t at = lseek(fd, 0, SEEK_CUR), hole = lseek(fd, at, SEEK_HOLE);

    lseek(fd, at, SEEK_SET);
    return hole > at && (size_t)(hole - at) < most ? (size_t)(hole - at) : most;
}

/* Prints what there is behind what was printed. */
static int
copy(struct output *o, struct err *err)
{
    char bytes[65536];
    ssize_t n;

    if (o->fd < 0)
        o->fd = packs_open(o->packs, o->path, err);
    if (o->fd < 0)
        return errno == ENOENT ? 0 : -1; /* there is none, or none yet */
    while (pass_hole(o->fd),
           (n = read(o->fd, bytes, portion(o->fd, sizeof bytes))) > 0)
        if (fwrite(bytes, 1, (size_t)n, stdout) != (size_t)n)
            break;
    return n != 0 || fflush(stdout) != 0
               ? err_errno(err, ERR_SYSTEM, "%s: cannot print", o->path)
               : 0;
}

static bool
is_there(const struct output *o, const char *name)
{
    char *path = file_join(o->folder, name);
    bool there = path != NULL && packs_has(o->packs, path);

    free(path);
    return there;
}

/* Whether nothing more comes though no word of the end did: the experiment has
 * no manager, or a record of the trial, or another attempt at it runs. */
static bool
is_lost(const struct output *o)
{
    struct results *r = results_load(o->experiment, RESULTS_NONE, NULL);
    bool over = r == NULL || r->state != RESULTS_RUNNING || !o->attempt->last;
    struct result one;

    if (!over && results_find(o->experiment,
                              strtoull(o->attempt->trial, NULL, 10), &one)) {
        over = strcmp(one.status, "interrupted") != 0;
        result_fini(&one);
    }
    results_free(r);
    return over;
}

/* Where the kernel has no room for that the file is looked at now and then. */
static void
watch(struct output *o)
{
    o->events = inotify_init1(IN_CLOEXEC);
    if (o->events < 0 ||
        inotify_add_watch(o->events, o->folder,
                          IN_MODIFY | IN_CREATE | IN_MOVED_TO) >= 0)
        return;
    close(o->events);
    o->events = -1;
}

enum next {
    NEXT_MORE, /* there may be */
    NEXT_LAST, /* what is there now is all */
    NEXT_DEAF, /* nobody reads our output any more */
};

static enum next
await(const struct output *o)
{
    struct pollfd fds[] = {{o->events, POLLIN, 0}, {STDOUT_FILENO, 0, 0}};
    char waste[4096];
    int n;

    if (is_there(o, TRIAL_EXIT))
        return NEXT_LAST;
    n = poll(fds, 2, LOOK_MS);
    if ((fds[1].revents & (POLLERR | POLLHUP)) != 0 ||
        (n > 0 && (fds[0].revents & POLLIN) != 0 &&
         read(o->events, waste, sizeof waste) < 0))
        return NEXT_DEAF;
    return n == 0 && is_lost(o) ? NEXT_LAST : NEXT_MORE;
}

static int
print(struct output *o, bool follow, struct err *err)
{
    enum next next = follow ? NEXT_MORE : NEXT_LAST;

    if (follow)
        watch(o);
    for (;;) {
        if (copy(o, err) != 0)
            return -1;
        if (next == NEXT_LAST || (next = await(o)) == NEXT_DEAF)
            return 0;
    }
}

static int
print_of(const char *experiment, const char *word,
         const struct trial_control_words *w, struct err *err)
{
    struct output o = {.experiment = experiment, .fd = -1, .events = -1};
    struct attempt a;
    int rc;

    if (attempt_find(experiment, word, &a, err) != 0)
        return -1;
    o.attempt = &a;
    o.packs = packs_new(); /* else each file is looked for anew */
    o.folder = stderr_tail_folder(a.folder, o.packs);
    if (o.folder != NULL)
        o.path =
            file_join(o.folder, w->stderr_only ? TRIAL_STDERR : TRIAL_STDOUT);
    rc = o.path == NULL ? err_set(err, ERR_MEMORY, "out of memory")
                        : print(&o, w->follow, err);
    if (o.fd >= 0)
        close(o.fd);
    if (o.events >= 0)
        close(o.events);
    packs_free(o.packs);
    free(o.path);
    free(o.folder);
    free(a.folder);
    return rc;
}

int
trial_control_output(int argc, char **argv, struct err *err)
{
    static const struct option options[] = {TRIAL_CONTROL_STDERR,
                                            TRIAL_CONTROL_FOLLOW};
    struct trial_control_words w = {0};
    char *folder;
    int rc;

    if (options_parse(options, 2, &w, &argc, argv, err) != 0)
        return -1;
    if (argc < 2 || argc > 3 || !attempt_is_word(argv[argc - 1]))
        return err_set(err, ERR_USAGE,
                       "output: expected [DIR] TRIAL, a trial's number, such "
                       "as 00003, or one of its attempts, such as 3.1");
    folder = target_folder("trial output", argc == 3 ? argv[1] : NULL, err);
    rc = folder == NULL ? -1 : print_of(folder, argv[argc - 1], &w, err);
    free(folder);
    return rc;
}

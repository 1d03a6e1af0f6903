/* SPDX-License-Identifier: MIT */
/* DESIGN.  A process id may become a stranger's between reading of it in /proc
 * and the signal: a pidfd is opened first, and when the process behind it
 * still lives after the reading, it is the one that was read of.
 *
 * A session's number is not given to another process while one is in it; when
 * all have gone it may be.  Then its new owner lives and leads it, so that a
 * session with a living leader is never a dead wrapper's. */
#include "runner/local/orphans.h"

#include "core/buf.h"
#include "core/clock.h"
#include "core/file.h"
#include "core/process.h"
#include "trial/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define STAT_MAX 65536
#define ENVIRON_MAX ((size_t)8 << 20)
#define PASSES_MAX 64 /* for those that make new ones all the time */

struct process {
    pid_t pid;
    char state;
    int session;
    char *folder; /* the trial's; NULL: of none, or it cannot be seen */
};

static bool
read_proc(pid_t pid, const char *name, size_t max, struct buf *out)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    buf_init(out, 2 * max);
    return file_read(path, max, out, NULL) == 0;
}

static bool
read_stat(struct process *p)
{
    struct buf text;
    const char *at;
    bool ok = false;

    if (read_proc(p->pid, "stat", STAT_MAX, &text) &&
        (at = strrchr(buf_text(&text), ')')) != NULL)
        ok = sscanf(at + 1, " %c %*d %*d %d", &p->state, &p->session) == 2;
    buf_fini(&text);
    return ok;
}

static void
read_folder(struct process *p)
{
    static const char name[] = TRIAL_ENV_DIR "=";
    struct buf text;
    const char *at, *end;

    p->folder = NULL;
    if (read_proc(p->pid, "environ", ENVIRON_MAX, &text)) {
        at = buf_text(&text);
        for (end = at + text.len; at < end; at += strlen(at) + 1)
            if (strncmp(at, name, sizeof name - 1) == 0) {
                p->folder = strdup(at + sizeof name - 1);
                break;
            }
    }
    buf_fini(&text);
}

static bool
is_dead(char state)
{
    return state == 'Z' || state == 'X';
}

/* Every process but this one. */
static void
each(void (*take)(void *ctx, const struct process *p), void *ctx)
{
    DIR *all = opendir("/proc");
    struct dirent *entry;

    while (all != NULL && (entry = readdir(all)) != NULL) {
        struct process p = {.pid = atoi(entry->d_name)};

        if (p.pid <= 0 || p.pid == getpid() || !read_stat(&p) ||
            is_dead(p.state))
            continue;
        read_folder(&p);
        take(ctx, &p);
        free(p.folder);
    }
    if (all != NULL)
        closedir(all);
}

struct hunt {
    const char *folder;
    pid_t session; /* 0: not to be gone by */
    struct map killed;
    bool more; /* one that was not killed before */
};

static bool
is_wanted(const struct hunt *h, const struct process *p)
{
    return (h->session > 0 && p->session == h->session) ||
           (p->folder != NULL && strcmp(p->folder, h->folder) == 0);
}

/* Read of again: between the first look and this one it may be another. */
static void
strike(void *ctx, const struct process *seen)
{
    struct hunt *h = ctx;
    struct process p = {.pid = seen->pid};
    int fd;

    if (!is_wanted(h, seen) || map_get(&h->killed, &p.pid, sizeof p.pid))
        return;
    fd = process_watch(p.pid);
    if (fd < 0)
        return;
    if (read_stat(&p)) {
        read_folder(&p);
        if (is_wanted(h, &p) && process_kill(fd, SIGKILL)) {
            h->more = true;
            map_put(&h->killed, &p.pid, sizeof p.pid, h);
        }
        free(p.folder);
    }
    close(fd);
}

void
orphans_kill(const char *folder, pid_t wrapper)
{
    struct process leader = {.pid = wrapper};
    struct hunt h = {.folder = folder, .session = wrapper, .more = true};

    if (wrapper > 0 && read_stat(&leader) && !is_dead(leader.state))
        h.session = 0;
    for (int i = 0; i < PASSES_MAX && h.more; i++) {
        h.more = false;
        each(strike, &h);
    }
    map_fini(&h.killed);
}

static void
remember(void *ctx, const struct process *p)
{
    struct orphans *o = ctx;

    if (p->folder != NULL)
        map_put(&o->found, p->folder, strlen(p->folder), o);
    map_put(&o->found, &p->session, sizeof p->session, o);
}

/* Whether it was written since the machine was started: ids of before are
 * strangers' by now.  Where the clock was set, rather not. */
static bool
is_of_this_boot(const char *path)
{
    struct timespec up;
    struct stat st;

    return stat(path, &st) == 0 && clock_gettime(CLOCK_BOOTTIME, &up) == 0 &&
           (int64_t)st.st_mtim.tv_sec >=
               clock_realtime_ns() / 1000000000 - (int64_t)up.tv_sec;
}

pid_t
orphans_wrapper(const char *home, unsigned long long *start)
{
    char *path = file_join(home, TRIAL_WRAPPER_PID), text[1024];
    int fd = path == NULL ? -1 : file_open_plain(path, O_RDONLY), pid = 0;
    const char *end;
    ssize_t n = 0;

    if (fd >= 0) {
        n = read(fd, text, sizeof text - 1);
        close(fd);
    }
    text[n > 0 ? n : 0] = '\0';
    end = strstr(text, "\nwrapper "); /* it is about to become `exit` */
    if (sscanf(text, "%d %llu", &pid, start) != 2 &&
        (end == NULL || sscanf(end, "\nwrapper %d %llu", &pid, start) != 2))
        pid = 0;
    free(path);
    return pid > 0 ? pid : 0;
}

static bool
wrapper_is_of_this_boot(const char *home)
{
    char *path = file_join(home, TRIAL_WRAPPER_PID);
    bool is = path != NULL && is_of_this_boot(path);

    free(path);
    return is;
}

void
orphans_kill_old(struct orphans *o, const char *folder, const char *home)
{
    unsigned long long start;
    pid_t wrapper =
        wrapper_is_of_this_boot(home) ? orphans_wrapper(home, &start) : 0;

    if (!o->looked)
        each(remember, o);
    o->looked = true;
    if (map_get(&o->found, folder, strlen(folder)) != NULL ||
        (wrapper > 0 && map_get(&o->found, &wrapper, sizeof wrapper) != NULL))
        orphans_kill(folder, wrapper);
}

void
orphans_fini(struct orphans *o)
{
    map_fini(&o->found);
}

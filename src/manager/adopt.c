/* SPDX-License-Identifier: MIT */
/* DESIGN.  A wrapper lives when its end of the lease is open.  One that was
 * started and has not come so far yet must neither be taken for dead nor start
 * its trial later, beside a new attempt: where nobody has the FIFO open it is
 * moved away, so that such a wrapper does not find it and gives up; if one had
 * opened it in between, that is seen behind the move. */
#include "manager/adopt.h"

#include "core/buf.h"
#include "core/clock.h"
#include "core/file.h"
#include "core/folder.h"
#include "core/process.h"
#include "manager/trial.h"
#include "trial/files.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SMALL_MAX 65536
#define OUTPUT_LINE_MAX 65536
#define COMING_UP_MS 10
#define COMING_UP_TIMES 300

static bool
read_small(const char *folder, const char *name, struct buf *out)
{
    char *path = file_join(folder, name);
    bool ok;

    buf_init(out, 4 * SMALL_MAX);
    ok = path != NULL && file_read_plain(path, SMALL_MAX, out, NULL) == 0;
    free(path);
    return ok;
}

void
adopt_stop(struct trial *t)
{
    unsigned long long intermediates, finals;
    struct buf text;
    char word[16];

    if (read_small(t->folder, TRIAL_STOP, &text) &&
        sscanf(buf_text(&text), "%15s %llu %llu", word, &intermediates,
               &finals) == 3 &&
        trial_stop_of(word) != STOP_REASONS) {
        t->stop = trial_stop_of(word);
        t->counted.intermediates = intermediates;
        t->counted.finals = finals;
    }
    buf_fini(&text);
}

static void
open_lines(const struct trial *t, const char *name, size_t max_line,
           struct tail *tail)
{
    char *path = file_join(t->folder, name);

    if (path == NULL || tail_open(tail, path, max_line, NULL) != 0)
        tail_close(tail);
    free(path);
}

void
adopt_files(struct trial *t, bool wants_output)
{
    char *records = file_join(t->folder, TRIAL_NNI_METRICS);

    open_lines(t, TRIAL_METRICS, TRIAL_METRIC_MAX, &t->report);
    if (wants_output)
        open_lines(t, TRIAL_STDOUT, OUTPUT_LINE_MAX, &t->out);
    if (records == NULL || nnifile_open(&t->nni, records, NULL) != 0)
        nnifile_close(&t->nni);
    free(records);
    adopt_stop(t);
}

static int
open_lease(const char *folder, const char *name)
{
    char *path = file_join(folder, name);
    int fd = path == NULL
                 ? -1
                 : open(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);

    free(path);
    return fd;
}

static void
move(const char *folder, const char *from, const char *to)
{
    char *a = file_join(folder, from), *b = file_join(folder, to);

    if (a != NULL && b != NULL)
        rename(a, b);
    free(a);
    free(b);
}

static bool
take_lease(struct trial *t, const char *folder)
{
    t->lease_fd = open_lease(folder, TRIAL_LEASE);
    if (t->lease_fd >= 0)
        return true;
    move(folder, TRIAL_LEASE, ADOPT_LEASE_OLD);
    t->lease_fd = open_lease(folder, ADOPT_LEASE_OLD);
    if (t->lease_fd < 0)
        return false;
    move(folder, ADOPT_LEASE_OLD, TRIAL_LEASE);
    return true;
}

static void
set_start(struct trial *t, unsigned long long ticks)
{
    int64_t hz = sysconf(_SC_CLK_TCK), lived;
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    lived = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec -
            (int64_t)ticks * (1000000000 / (hz > 0 ? hz : 100));
    t->started_ns = clock_monotonic_ns() - (lived > 0 ? lived : 0);
}

/* What it wrote is believed when the process began as it says. */
static bool
find_process(struct trial *t, const char *folder)
{
    unsigned long long start;
    struct buf text;
    bool read;
    int pid;

    read = read_small(folder, TRIAL_WRAPPER_PID, &text) &&
           sscanf(buf_text(&text), "%d %llu", &pid, &start) == 2;
    buf_fini(&text);
    if (!read || pid <= 0)
        return false;
    t->pid = pid;
    t->pidfd = process_open(pid, start);
    if (t->pidfd >= 0)
        set_start(t, start);
    return t->pidfd >= 0;
}

bool
adopt_wrapper(struct trial *t, const char *folder)
{
    char *exit_file = file_join(folder, TRIAL_EXIT);
    bool found = false;

    if (exit_file != NULL && access(exit_file, F_OK) != 0 &&
        take_lease(t, folder))
        for (int i = 0; i < COMING_UP_TIMES && !found; i++) {
            if (i > 0) /* it writes its number at once behind the opening */
                poll(NULL, 0, COMING_UP_MS);
            found = find_process(t, folder);
            if (!found && access(exit_file, F_OK) == 0)
                break;
        }
    free(exit_file);
    if (!found && t->lease_fd >= 0) {
        close(t->lease_fd);
        t->lease_fd = -1;
    }
    return found;
}

void
adopt_discard(const char *folder)
{
    folder_remove(folder);
}

/* SPDX-License-Identifier: MIT */
#include "dispatcher/loglock.h"

#include "core/err.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LINGERS_MS 10
#define LINGERS_TIMES 200

void
loglock_init(struct loglock *l)
{
    *l = (struct loglock){.fd = -1};
    l->map = &l->spare;
}

/* Waits a little: for a program that a writer had just started when it was
 * killed, which has the lock with it until it calls exec; for a process that
 * was killed and is on its way out. */
static int
lock_it(int fd, uint64_t *holder)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct lockfile at;

    for (int i = 0; fcntl(fd, F_OFD_SETLK, &lock) != 0; i++) {
        at.pid = 0;
        if (i == LINGERS_TIMES) {
            *holder = pread(fd, &at, sizeof at, 0) < 0 ? 0 : at.pid;
            return -1;
        }
        poll(NULL, 0, LINGERS_MS);
    }
    return 0;
}

int
loglock_take(struct loglock *l, const char *path, struct err *err)
{
    uint64_t holder = 0;

    l->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (l->fd < 0)
        return err_errno(err, ERR_LOG, "%s: cannot open", path);
    if (lock_it(l->fd, &holder) == 0)
        return 0;
    return err_set(err, ERR_LOG,
                   "%s: locked by process %" PRIu64 ", expected one writer",
                   path, holder);
}

/* Written, not only stretched: a full disk is told here and not by a SIGBUS
 * later. */
int
loglock_map(struct loglock *l, const char *path, struct err *err)
{
    struct lockfile fresh = {.pid = (uint64_t)getpid()};
    void *map;

    memcpy(fresh.magic, LOCKFILE_MAGIC, sizeof fresh.magic);
    if (pread(l->fd, &l->before, sizeof l->before, 0) != sizeof l->before ||
        memcmp(l->before.magic, LOCKFILE_MAGIC, sizeof l->before.magic) != 0)
        l->before = (struct lockfile){.pid = 0};
    if (pwrite(l->fd, &fresh, sizeof fresh, 0) != sizeof fresh ||
        ftruncate(l->fd, sizeof fresh) != 0)
        return err_errno(err, ERR_LOG, "%s: cannot write", path);
    map = mmap(NULL, sizeof *l->map, PROT_READ | PROT_WRITE, MAP_SHARED, l->fd,
               0);
    if (map == MAP_FAILED)
        return err_errno(err, ERR_LOG, "%s: cannot map", path);
    l->map = map;
    return 0;
}

void
loglock_release(struct loglock *l)
{
    if (l->map != &l->spare)
        munmap(l->map, sizeof *l->map);
    if (l->fd >= 0)
        close(l->fd);
}

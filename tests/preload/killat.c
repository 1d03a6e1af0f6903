/* SPDX-License-Identifier: MIT */
/* killat.so, preloaded: the manager (`tunepipe run`, `tunepipe resume`, a
 * study's server) dies of SIGKILL at its Nth moment, N being in $KILL_AT; 0 or
 * more than there are: never.  The file $KILL_COUNT then gets how many there
 * were.
 *
 * Each call that changes files, and each that writes into a pipe, has two: a
 * write when half of it is written and when all is; any other before it is
 * done and when it is.  Written to standard output and error there is none. */
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static pid_t manager; /* 0: this is another process */
static unsigned long moment, deadly;

__attribute__((constructor)) static void
begin(int argc, char **argv)
{
    const char *at = getenv("KILL_AT");

    if (argc < 2 || at == NULL ||
        (strcmp(argv[1], "run") != 0 && strcmp(argv[1], "resume") != 0 &&
         (argc < 4 || strcmp(argv[3], "--foreground") != 0)))
        return;
    deadly = strtoul(at, NULL, 10);
    manager = getpid();
}

/* A child that has not called exec yet is not the manager. */
static bool
is_manager(void)
{
    return manager != 0 && syscall(SYS_getpid) == manager;
}

static void
pass(void)
{
    if (++moment == deadly)
        syscall(SYS_kill, manager, SIGKILL);
}

__attribute__((destructor)) static void
end(void)
{
    const char *path = getenv("KILL_COUNT");
    char text[32];
    int fd, len;

    if (!is_manager() || path == NULL)
        return;
    manager = 0;
    len = snprintf(text, sizeof text, "%lu\n", moment);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd >= 0 && write(fd, text, (size_t)len) != len)
        _exit(99);
    close(fd);
}

ssize_t
pwrite(int fd, const void *data, size_t len, off_t at)
{
    ssize_t n;

    if (!is_manager())
        return syscall(SYS_pwrite64, fd, data, len, at);
    if (++moment == deadly) {
        syscall(SYS_pwrite64, fd, data, len / 2, at);
        syscall(SYS_kill, manager, SIGKILL);
    }
    n = syscall(SYS_pwrite64, fd, data, len, at);
    pass();
    return n;
}

ssize_t
write(int fd, const void *data, size_t len)
{
    ssize_t n;

    if (!is_manager() || fd <= 2)
        return syscall(SYS_write, fd, data, len);
    if (++moment == deadly) {
        syscall(SYS_write, fd, data, len / 2);
        syscall(SYS_kill, manager, SIGKILL);
    }
    n = syscall(SYS_write, fd, data, len);
    pass();
    return n;
}

static int
around(long result)
{
    if (is_manager())
        pass();
    return (int)result;
}

static void
before(void)
{
    if (is_manager())
        pass();
}

int
openat(int folder, const char *path, int flags, ...)
{
    mode_t mode = 0;
    va_list ap;

    va_start(ap, flags);
    if (flags & O_CREAT)
        mode = va_arg(ap, mode_t);
    va_end(ap);
    if (!(flags & O_CREAT))
        return (int)syscall(SYS_openat, folder, path, flags, mode);
    before();
    return around(syscall(SYS_openat, folder, path, flags, mode));
}

int
openat64(int folder, const char *path, int flags, ...)
{
    mode_t mode = 0;
    va_list ap;

    va_start(ap, flags);
    if (flags & O_CREAT)
        mode = va_arg(ap, mode_t);
    va_end(ap);
    return openat(folder, path, flags, mode);
}

int
open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    va_list ap;

    va_start(ap, flags);
    if (flags & O_CREAT)
        mode = va_arg(ap, mode_t);
    va_end(ap);
    return openat(AT_FDCWD, path, flags, mode);
}

int
open64(const char *path, int flags, ...)
{
    mode_t mode = 0;
    va_list ap;

    va_start(ap, flags);
    if (flags & O_CREAT)
        mode = va_arg(ap, mode_t);
    va_end(ap);
    return open(path, flags, mode);
}

int
renameat(int old, const char *from, int new, const char *to)
{
    before();
    return around(syscall(SYS_renameat2, old, from, new, to, 0));
}

int
rename(const char *from, const char *to)
{
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int
linkat(int old, const char *from, int new, const char *to, int flags)
{
    before();
    return around(syscall(SYS_linkat, old, from, new, to, flags));
}

int
unlinkat(int folder, const char *path, int flags)
{
    before();
    return around(syscall(SYS_unlinkat, folder, path, flags));
}

int
unlink(const char *path)
{
    return unlinkat(AT_FDCWD, path, 0);
}

int
mkdir(const char *path, mode_t mode)
{
    before();
    return around(syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}

int
mkfifo(const char *path, mode_t mode)
{
    before();
    return around(
        syscall(SYS_mknodat, AT_FDCWD, path, (mode & 07777) | S_IFIFO, 0));
}

int
ftruncate(int fd, off_t len)
{
    before();
    return around(syscall(SYS_ftruncate, fd, len));
}

int
kill(pid_t pid, int sig)
{
    before();
    return around(syscall(SYS_kill, pid, sig));
}

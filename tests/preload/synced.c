/* SPDX-License-Identifier: MIT */
/* synced.so, preloaded: beside each command.log a file command.log.synced tells
 * how much of it was last put on stable storage, in decimal, also of one that
 * had another name then; the same beside results.jsonl and the packs of trials.
 */
#include <inttypes.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BESIDE ".synced"
#define NEXT_LOG "/command.log.new" /* it becomes one */

static bool
ends_with(const char *path, size_t len, const char *end)
{
    size_t n = strlen(end);

    return len >= n && memcmp(path + len - n, end, n) == 0;
}

static void
tell(int fd, off_t size)
{
    char at[64], path[4096 + sizeof BESIDE], text[32] = "";
    ssize_t len;
    int to, n;

    snprintf(at, sizeof at, "/proc/self/fd/%d", fd);
    len = readlink(at, path, 4096);
    if (len < 0 || (!ends_with(path, (size_t)len, "/command.log") &&
                    !ends_with(path, (size_t)len, NEXT_LOG) &&
                    !ends_with(path, (size_t)len, "/results.jsonl") &&
                    !ends_with(path, (size_t)len, ".tar.gz")))
        return;
    memcpy(path + len, BESIDE, sizeof BESIDE);
    to = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    /* Another process may have told of more meanwhile. */
    if (to >= 0 && pread(to, text, 20, 0) == 20 &&
        strtoull(text, NULL, 10) > (uint64_t)size) {
        close(to);
        return;
    }
    n = snprintf(text, sizeof text, "%020" PRIu64 "\n", (uint64_t)size);
    if (to >= 0 && pwrite(to, text, (size_t)n, 0) != n)
        _exit(99);
    close(to);
}

int
fdatasync(int fd)
{
    struct stat st;
    int known = fstat(fd, &st);
    int rc = (int)syscall(SYS_fdatasync, fd);

    if (rc == 0 && known == 0 && S_ISREG(st.st_mode))
        tell(fd, st.st_size);
    return rc;
}

static int
move(const char *from, const char *to)
{
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int
rename(const char *from, const char *to)
{
    char told[4096 + sizeof BESIDE], beside[4096 + sizeof BESIDE];
    int rc = move(from, to);

    if (rc != 0 || !ends_with(from, strlen(from), NEXT_LOG))
        return rc;
    snprintf(told, sizeof told, "%s" BESIDE, from);
    snprintf(beside, sizeof beside, "%s" BESIDE, to);
    move(told, beside);
    return 0;
}

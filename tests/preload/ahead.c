/* SPDX-License-Identifier: MIT */
/* ahead.so, preloaded: every clock is ahead by as many seconds as the file
 * $CLOCK_AHEAD tells.  Hours pass in a test at once, on any machine. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static time_t
seconds_ahead(void)
{
    const char *path = getenv("CLOCK_AHEAD");
    int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    char text[16] = "";

    if (fd < 0)
        return 0;
    if (read(fd, text, sizeof text - 1) < 0)
        text[0] = '\0';
    close(fd);
    return strtol(text, NULL, 10);
}

int
clock_gettime(clockid_t id, struct timespec *out)
{
    int rc = (int)syscall(SYS_clock_gettime, id, out);

    if (rc == 0 &&
        (id == CLOCK_REALTIME || id == CLOCK_MONOTONIC || id == CLOCK_BOOTTIME))
        out->tv_sec += seconds_ahead();
    return rc;
}

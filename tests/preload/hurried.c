/* SPDX-License-Identifier: MIT */
/* hurried.so, preloaded: a process has used eight times the CPU time that it
 * has, so that what is given up after some seconds of it is given up soon. */
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TIMES 8
#define NS_PER_S 1000000000

int
clock_gettime(clockid_t id, struct timespec *out)
{
    int rc = (int)syscall(SYS_clock_gettime, id, out);
    int64_t ns;

    if (rc == 0 && id == CLOCK_PROCESS_CPUTIME_ID) {
        ns = ((int64_t)out->tv_sec * NS_PER_S + out->tv_nsec) * TIMES;
        out->tv_sec = ns / NS_PER_S;
        out->tv_nsec = ns % NS_PER_S;
    }
    return rc;
}

/* SPDX-License-Identifier: MIT */
/* clock.so, preloaded: the clock of the day jumps, back and forward, at every
 * few calls, by amounts drawn from $CLOCK_SEED; no other clock does. */
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define EVERY 3 /* calls between jumps */

static uint64_t seed;

__attribute__((constructor)) static void
begin(void)
{
    const char *text = getenv("CLOCK_SEED");

    seed = text != NULL ? strtoull(text, NULL, 10) : 0;
}

/* Seconds, of any size from none to some thirty years, after the call that is
 * the `n`th. */
static int64_t
shift(uint64_t n)
{
    uint64_t x = (seed + 1) * 0x9e3779b97f4a7c15u + n / EVERY;
    int64_t size;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    x ^= x >> 31;
    size = (int64_t)((x >> 8 & 0x3fffffff) >> (x >> 40) % 31);
    return x & 1 ? size : -size;
}

static _Atomic uint64_t calls;

int
clock_gettime(clockid_t id, struct timespec *out)
{
    int rc = (int)syscall(SYS_clock_gettime, id, out);

    if (rc == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
        out->tv_sec += shift(atomic_fetch_add(&calls, 1));
    return rc;
}

int
gettimeofday(struct timeval *out, void *zone)
{
    struct timespec now;

    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    out->tv_sec = now.tv_sec;
    out->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t
time(time_t *out)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    if (out != NULL)
        *out = now.tv_sec;
    return now.tv_sec;
}

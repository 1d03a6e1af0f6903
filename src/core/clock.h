/* SPDX-License-Identifier: MIT */
/* clock.h - the two clocks.  Neither may influence an answer: the monotonic
 * one is for deadlines, the other is only ever shown or recorded.  Any
 * thread. */
#ifndef CORE_CLOCK_H
#define CORE_CLOCK_H

#include <stdint.h>

int64_t clock_monotonic_ns(void); /* for durations and deadlines */
int64_t clock_realtime_ns(void);  /* since 1970, for people */

#endif

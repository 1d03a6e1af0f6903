/* SPDX-License-Identifier: MIT */
#include "plugin/floatenv.h"

#if defined(__x86_64__)
#include <xmmintrin.h>

#define MXCSR_FLAGS 0x3fu     /* sticky exception flags */
#define MXCSR_DEFAULT 0x1f80u /* all masked, to nearest, no FTZ, no DAZ */
#define X87_DEFAULT 0x037fu   /* all masked, to nearest, 64-bit mantissa */

bool
floatenv_is_default(void)
{
    unsigned short x87;

    __asm__ volatile("fnstcw %0" : "=m"(x87));
    return (_mm_getcsr() & ~MXCSR_FLAGS) == MXCSR_DEFAULT && x87 == X87_DEFAULT;
}

void
floatenv_restore(void)
{
    unsigned mxcsr = _mm_getcsr();
    unsigned short x87;

    if ((mxcsr & ~MXCSR_FLAGS) != MXCSR_DEFAULT)
        _mm_setcsr(MXCSR_DEFAULT | (mxcsr & MXCSR_FLAGS));
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    if (x87 != X87_DEFAULT) {
        x87 = X87_DEFAULT;
        __asm__ volatile("fldcw %0" : : "m"(x87) : "memory");
    }
}

#else
#include <fenv.h>

/* Whether denormal numbers are kept shows in arithmetic alone. */
bool
floatenv_is_default(void)
{
    volatile double least = 0x1p-1022;

    return fegetround() == FE_TONEAREST && least / 2 != 0;
}

void
floatenv_restore(void)
{
    fesetenv(FE_DFL_ENV);
}

#endif

/* SPDX-License-Identifier: MIT */
/* A tuner that changes the floating-point environment: when it is loaded, as
 * one linked with -ffast-math does, and in each call. */
#include "base.h"

#if defined(__x86_64__)
#include <xmmintrin.h>

static void
change(void)
{
    unsigned short single = 0x007f; /* x87: 24-bit mantissa */

    _mm_setcsr(_mm_getcsr() | 0x8040); /* flush to zero, denormals are zero */
    __asm__ volatile("fldcw %0" : : "m"(single));
}
#else
#include <fenv.h>

static void
change(void)
{
    fesetround(FE_UPWARD);
}
#endif

__attribute__((constructor)) static void
loaded(void)
{
    change();
}

static void *
create(const struct tp_host *host)
{
    change();
    return base_create(host);
}

static int
ask(void *self, uint64_t id, struct tp_suggestion *out)
{
    int rc = base_ask(self, id, out);

    change();
    return rc;
}

static int
tell(void *self, uint64_t id, const double *x, const struct tp_result *result)
{
    change();
    return tp_tell_nothing(self, id, x, result);
}

static int
save(void *self, const struct tp_sink *sink)
{
    (void)self;
    (void)sink;
    change();
    return TP_OK;
}

static int
load(void *self, const struct tp_source *source)
{
    (void)self;
    (void)source;
    change();
    return TP_OK;
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    .name = "flushes",
    .doc = "changes the floating-point environment",
    .create = create,
    .destroy = free,
    .ask = ask,
    .tell = tell,
    .save = save,
    .load = load,
};
TP_REGISTER_TUNER(tuner)

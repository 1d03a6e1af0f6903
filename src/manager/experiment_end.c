/* SPDX-License-Identifier: MIT */
#include "manager/experiment_end.h"

#include "manager/progress.h"

#include <stdarg.h>
#include <stdio.h>

void
experiment_ends(struct experiment_end *e, enum manager_end end, const char *fmt,
                ...)
{
    struct manager_outcome *out = e->outcome;
    va_list ap;

    if (e->known)
        return;
    e->known = true;
    e->hear(e->ctx);
    out->end = end;
    va_start(ap, fmt);
    vsnprintf(out->reason, sizeof out->reason, fmt, ap);
    va_end(ap);
    if (end > MANAGER_DURATION && end != MANAGER_CONFIG)
        progress_warn(e->progress, "tunepipe: %s%s",
                      end == MANAGER_INTERRUPTED ? "" : "error: ", out->reason);
}

/* SPDX-License-Identifier: MIT */
#include "dispatcher/emission.h"

#include "frame.h"
#include "log/snapshot.h"
#include "log/writer.h"

#include <string.h>

/* Slots of the lock file and parts of a snapshot go by sender. */
_Static_assert((int)SENDER_DEFAULT == (int)LOCKFILE_DEFAULT &&
                   (int)SENDER_ASSESSOR == (int)LOCKFILE_ASSESSOR,
               "slots go by sender");
_Static_assert((int)SENDER_DEFAULT == (int)SNAPSHOT_TUNER &&
                   (int)SENDER_ASSESSOR == (int)SNAPSHOT_ASSESSOR &&
                   (int)SENDER_ROUTER == (int)SNAPSHOT_ROUTER,
               "parts go by sender");

void
emission_record(const struct emission *e, struct logwriter *log)
{
    static const enum record_kind kinds[] = {
        [SENDER_DEFAULT] = RECORD_TUNER,
        [SENDER_ASSESSOR] = RECORD_ASSESSOR,
        [SENDER_ROUTER] = RECORD_ROUTER,
    };
    struct frame frame = {.payload = e->payload, .len = e->len};

    memcpy(frame.code, command_info(e->code)->code, sizeof frame.code);
    logwriter_frame(log, kinds[e->sender], e->cause, &frame);
}

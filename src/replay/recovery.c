/* SPDX-License-Identifier: MIT */
#include "replay/recovery.h"

#include "core/err.h"
#include "dispatcher/resend.h"
#include "dispatcher/router.h"
#include "dispatcher/session.h"
#include "dispatcher/side.h"
#include "dispatcher/view.h"
#include "log/writer.h"

#include <stdlib.h>
#include <string.h>

static void
ignore(void *ctx, uint64_t first, uint64_t n)
{
    (void)ctx;
    (void)first;
    (void)n;
}

static const struct viewer nobody = {.owed = ignore};

/* Takes a refusal that the log lacks, unless it only announces a later one.
 * A refusal of no units is that of the search space, which the manager hears
 * of. */
static void
take_refusal(struct recovery *r, const struct emission *no)
{
    if (no->reason == NO_LATER)
        return;
    r->owed += no->units;
    if (no->units == 0)
        r->spaceless = false;
}

/* Counts what the manager may rely on; -1: out of memory. */
static int
count_promises(struct recovery *r)
{
    const struct session *s = r->rest.session;
    const struct resend *unread = router_unread(s->router);
    const struct side *tuner = s->sides[SENDER_DEFAULT];
    const struct emission *e;
    struct tuning_view view;
    size_t at = 0;

    side_see(tuner, &view, &nobody);
    /* a program that was asked may still take the search space */
    r->spaceless = !view.has_space && !side_waits(tuner);
    r->owed = side_owed(tuner);
    r->trials = unread->trials;
    while ((e = pending_next(&r->rest.pending, &at)) != NULL)
        for (; e != NULL; e = e->next) {
            r->trials += e->code == CMD_NEW_TRIAL;
            if (e->code == CMD_NO_MORE)
                take_refusal(r, e);
        }
    return unread->failed ? -1 : 0;
}

int
recovery_run(const struct recovery_setup *setup, struct logwriter *log,
             struct recovery *out, struct err *err)
{
    const struct lockslot *slots[2] = {logwriter_slot(log, SENDER_DEFAULT),
                                       logwriter_slot(log, SENDER_ASSESSOR)};
    struct replay_setup replay = {
        .path = setup->path,
        .from_snapshot = !setup->from_front,
        .paths = setup->paths,
        .log = setup->log,
        .slots = slots,
        .rest = &out->rest,
        .bars = setup->bars,
        .n_bars = setup->n_bars,
        .say = setup->say,
    };

    memset(out, 0, sizeof *out);
    if (replay_run(&replay, &out->report, err) != 0)
        return -1;
    if (count_promises(out) != 0)
        return err_set(err, ERR_MEMORY, "recovery: out of memory");
    return logwriter_cut(log, out->report.torn_bytes, err);
}

void
recovery_fini(struct recovery *r)
{
    session_free(r->rest.session);
    pending_fini(&r->rest.pending);
    free(r->rest.lost);
}

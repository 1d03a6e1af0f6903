/* SPDX-License-Identifier: MIT */
#include "dispatcher/session.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/pack.h"
#include "dispatcher/router.h"
#include "dispatcher/side.h"

static int
save_router(const struct session *s, struct buf *out, struct err *err)
{
    size_t len = out->len;

    router_save(s->router, out);
    if (buf_check(out, "what a snapshot holds", err) == 0)
        return 1;
    out->len = len;
    return -1;
}

int
session_save(const struct session *s, enum sender side, struct buf *out,
             struct err *err)
{
    return side == SENDER_ROUTER ? save_router(s, out, err)
                                 : side_save(s->sides[side], out, err);
}

static int
load(struct session *s, enum sender side, struct unpack *in, struct err *err)
{
    if (side != SENDER_ROUTER)
        return side_load(s->sides[side], in, err);
    return router_load(s->router, in) == 0
               ? 0
               : err_set(err, ERR_LOG, "damaged, or out of memory");
}

int
session_load(struct session *s, enum sender side, struct unpack *in,
             struct err *err)
{
    static const char *const names[] = {[SENDER_DEFAULT] = "the tuner's part",
                                        [SENDER_ASSESSOR] =
                                            "the assessor's part",
                                        [SENDER_ROUTER] = "the router's part"};

    if (load(s, side, in, err) == 0) {
        if (unpack_done(in))
            return 0;
        err_set(err, ERR_LOG, "%zu bytes too many", (size_t)(in->end - in->at));
    }
    return err_place(err, "snapshot: %s", names[side]);
}

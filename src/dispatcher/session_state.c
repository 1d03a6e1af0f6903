/* SPDX-License-Identifier: MIT */
#include "dispatcher/session.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/pack.h"
#include "dispatcher/assessing.h"
#include "dispatcher/router.h"
#include "dispatcher/tuning.h"

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
    switch (side) {
    case SENDER_DEFAULT:
        return s->tuning == NULL ? 0 : tuning_save(s->tuning, out, err);
    case SENDER_ASSESSOR:
        return s->assessing == NULL ? 0
                                    : assessing_save(s->assessing, out, err);
    case SENDER_ROUTER:
        break;
    }
    return save_router(s, out, err);
}

static int
load(struct session *s, enum sender side, struct unpack *in, struct err *err)
{
    switch (side) {
    case SENDER_DEFAULT:
        if (s->tuning != NULL)
            return tuning_load(s->tuning, in, err);
        return err_set(err, ERR_LOG, "it is a program");
    case SENDER_ASSESSOR:
        if (s->assessing != NULL)
            return assessing_load(s->assessing, in, err);
        return err_set(err, ERR_LOG, "it is a program");
    case SENDER_ROUTER:
        break;
    }
    if (router_load(s->router, in) != 0)
        return err_set(err, ERR_LOG, "damaged, or out of memory");
    return 0;
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

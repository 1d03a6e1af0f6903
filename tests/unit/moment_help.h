/* SPDX-License-Identifier: MIT */
/* moment_help.h - a session that is played frame by frame, and how it stands
 * between two of them: its three parts, packed. */
#ifndef TESTS_MOMENT_HELP_H
#define TESTS_MOMENT_HELP_H

#include "save_help.h"
#include "tape_help.h"

static const enum sender moment_sides[] = {SENDER_ROUTER, SENDER_DEFAULT,
                                           SENDER_ASSESSOR};

struct going {
    struct session *session;
    struct buf said; /* of one command */
};

static inline void
going_hear(void *ctx, const struct emission *e)
{
    struct going *g = ctx;

    buf_printf(&g->said, "%d %" PRIu64 " %s %.*s\n", e->sender, e->cause,
               command_info(e->code)->code, (int)e->len,
               e->len > 0 ? e->payload : "");
    router_written(g->session->router, e);
}

static inline void
going_start(struct going *g, const struct session_setup *setup)
{
    static const struct log silent = {.fd = -1};
    struct emitter emitter = {going_hear, g};
    struct err err;

    err_clear(&err);
    buf_init(&g->said, 1 << 24);
    g->session = session_new(setup, emitter, &silent, &err);
    CHECK_STR(err.text, "");
}

static inline void
going_stop(struct going *g)
{
    session_free(g->session);
    buf_fini(&g->said);
}

static inline void
going_handle(struct going *g, enum sender side, struct chain *chain)
{
    struct command *next;
    struct err err;

    for (struct command *cmd = chain->first; cmd != NULL; cmd = next) {
        next = cmd->next;
        side_command(g->session->sides[side], cmd, &err);
        command_free(cmd);
    }
}

/* What it says to that. */
static const char *
going_play(struct going *g, const struct tape_frame *f)
{
    struct frame frame = {.payload = f->payload, .len = f->len};
    struct routed routed = {0};

    memcpy(frame.code, f->code, 2);
    buf_clear(&g->said);
    router_frame(g->session->router, &frame, f->arrival, &routed);
    going_handle(g, SENDER_DEFAULT, &routed.by_default);
    going_handle(g, SENDER_ASSESSOR, &routed.assessor);
    return buf_text(&g->said);
}

/* ---- one moment of a session ---- */

struct moment {
    struct buf parts[3];
    int taken;  /* of the three */
    char *said; /* to the command before it */
};

static inline void
moment_take(struct moment *m, const struct session *s)
{
    struct err err;

    m->taken = 0;
    for (int i = 0; i < 3; i++) {
        int rc;

        buf_init(&m->parts[i], 1 << 24);
        rc = session_save(s, moment_sides[i], &m->parts[i], &err);
        CHECK(rc == 0 || rc == 1);
        CHECK_EQ(m->parts[i].len > 0, rc);
        m->taken += rc;
    }
}

static inline void
moment_fini(struct moment *m)
{
    for (int i = 0; i < 3; i++)
        buf_fini(&m->parts[i]);
    free(m->said);
}

static inline int
moment_load(struct going *g, const struct moment *m, struct err *err)
{
    for (int i = 0; i < 3; i++) {
        struct unpack in = unpack_from(m->parts[i].data, m->parts[i].len);

        if (session_load(g->session, moment_sides[i], &in, err) != 0)
            return -1;
    }
    return 0;
}

static inline void
moment_is(const struct moment *m, const struct session *s)
{
    struct moment again;

    moment_take(&again, s);
    again.said = NULL;
    CHECK_EQ(again.taken, 3);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(again.parts[i].len, m->parts[i].len);
        CHECK(memcmp(again.parts[i].data, m->parts[i].data, m->parts[i].len) ==
              0);
    }
    moment_fini(&again);
}

#endif

/* SPDX-License-Identifier: MIT */
#include "replay/replay_state.h"

#include "core/err.h"
#include "dispatcher/assessing.h"
#include "dispatcher/proxy.h"
#include "dispatcher/router.h"
#include "dispatcher/session.h"
#include "dispatcher/tuning.h"
#include "frame.h"
#include "log/log.h"
#include "plugin/assessor.h"
#include "plugin/tuner.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

struct skip *
replay_skip(const struct replay *r, uint64_t cause, enum sender sender)
{
    struct skips_of *of = skips_find(&r->skips, cause);

    return of == NULL ? NULL : &of->half[sender];
}

static int
call_default(struct replay *r, const struct command *cmd, bool barred)
{
    struct session *s = r->session;
    int rc;

    if (s->tuning == NULL)
        return proxy_command(s->proxies[SENDER_DEFAULT], cmd, NULL);
    tuner_bar(s->tuner, barred);
    rc = tuning_handle(s->tuning, cmd, NULL);
    tuner_bar(s->tuner, false);
    return rc;
}

static int
call_assessor(struct replay *r, const struct command *cmd, bool barred)
{
    struct session *s = r->session;
    struct err err;
    int rc;

    if (s->assessing == NULL)
        return proxy_command(s->proxies[SENDER_ASSESSOR], cmd, &err);
    if (s->assessor != NULL)
        assessor_bar(s->assessor, barred);
    rc = assessing_handle(s->assessing, cmd, &err);
    if (s->assessor != NULL)
        assessor_bar(s->assessor, false);
    return rc;
}

/* A failure that ended the recorded session ends this side here, too. */
static void
handle(struct replay *r, enum sender side, const struct command *cmd)
{
    const struct skip *s = replay_skip(r, cmd->arrival, side);
    bool barred = s != NULL && s->barred;
    int rc;

    if ((s != NULL && s->dropped) || r->failed[side] ||
        replay_has(r, cmd->arrival, side))
        return;
    if (r->setup->slots != NULL)
        atomic_store(r->setup->slots[side], cmd->arrival);
    rc = side == SENDER_DEFAULT ? call_default(r, cmd, barred)
                                : call_assessor(r, cmd, barred);
    if (r->setup->slots != NULL)
        atomic_store(r->setup->slots[side], 0);
    r->failed[side] = rc != 0;
}

/* Handles and frees, or keeps what an end left. */
static void
handle_chain(struct replay *r, enum sender side, struct chain *chain)
{
    struct command *next;

    for (struct command *cmd = chain->first; cmd != NULL; cmd = next) {
        const struct skip *s = replay_skip(r, cmd->arrival, side);

        next = cmd->next;
        if (s != NULL && s->left > 0 && !replay_has(r, cmd->arrival, side)) {
            chain_add(&r->left[side], cmd);
            continue;
        }
        handle(r, side, cmd);
        command_free(cmd);
    }
}

static void
close_requests(struct replay *r, uint64_t arrival)
{
    if (r->session->tuning != NULL && !replay_has(r, arrival, SENDER_DEFAULT))
        tuning_close(r->session->tuning);
}

/* Some ends make what is owed void: also one right behind a snapshot, with no
 * input in between. */
void
replay_ended(struct replay *r, const struct record *record)
{
    static const char *const voids[] = {"terminated", "signalled"};

    for (size_t i = 0; i < sizeof voids / sizeof *voids; i++)
        if (strlen(voids[i]) == record->len &&
            memcmp(voids[i], record->payload, record->len) == 0 &&
            r->session->tuning != NULL &&
            log_segment(r->file) > r->upto[SENDER_DEFAULT])
            tuning_close(r->session->tuning);
}

/* The session goes on: first with what its end left. */
void
replay_resumed(struct replay *r)
{
    session_reopen(r->session);
    for (int side = 0; side < 2; side++) {
        struct chain left = r->left[side];

        r->failed[side] = false;
        r->left[side] = (struct chain){0};
        for (struct command *cmd = left.first; cmd != NULL; cmd = cmd->next)
            replay_skip(r, cmd->arrival, side)->left--;
        handle_chain(r, side, &left);
    }
}

static int
read_frame(const struct replay *r, const struct record *record,
           struct frame *frame, struct err *err)
{
    *frame = (struct frame){.offset = log_offset(r->file)};
    if (record->len < 2)
        return err_set(err, ERR_LOG,
                       "%s: offset %" PRIu64 ": expected a command's code",
                       log_path_now(r->file), log_offset(r->file));
    memcpy(frame->code, record->payload, 2);
    frame->payload = record->payload + 2;
    frame->len = record->len - 2;
    return 0;
}

/* The proxy of the program that the record is of. */
static struct proxy *
proxy_of(const struct replay *r, enum sender side, struct err *err)
{
    if (r->session->proxies[side] == NULL)
        err_set(err, ERR_LOG,
                "%s: offset %" PRIu64 ": a record of a program, but the head "
                "record names none",
                log_path_now(r->file), log_offset(r->file));
    return r->session->proxies[side];
}

/* What ends its side is remembered by the proxy. */
int
replay_program(struct replay *r, const struct record *record, enum sender side,
               struct err *err)
{
    struct proxy *proxy = proxy_of(r, side, err);
    struct frame frame;

    if (proxy == NULL || read_frame(r, record, &frame, err) != 0)
        return -1;
    proxy_frame(proxy, record->number, &frame, NULL);
    return 0;
}

int
replay_event(struct replay *r, const struct record *record, enum sender side,
             struct err *err)
{
    const char *space = memchr(record->payload, ' ', record->len);
    size_t word = space == NULL ? 0 : (size_t)(space - record->payload);
    struct proxy *proxy = proxy_of(r, side, err);
    enum proxy_event event;
    char how[ERR_TEXT_MAX];

    if (proxy == NULL)
        return -1;
    if (!proxy_event_find(record->payload, word, &event))
        return err_set(err, ERR_LOG,
                       "%s: offset %" PRIu64
                       ": expected 'late', 'gone' or 'left'",
                       log_path_now(r->file), log_offset(r->file));
    snprintf(how, sizeof how, "%.*s", (int)(record->len - word - 1), space + 1);
    proxy_event(proxy, record->number, event, how, NULL);
    return 0;
}

int
replay_command(struct replay *r, const struct record *record, struct err *err)
{
    struct routed routed = {0};
    const struct skips_of *of;
    struct frame frame;

    if (read_frame(r, record, &frame, err) != 0)
        return -1;
    r->report->commands++;
    router_frame(r->session->router, &frame, record->number, &routed);
    of = skips_find(&r->skips, record->number);
    if (of != NULL && of->closes)
        close_requests(r, record->number);
    handle_chain(r, SENDER_DEFAULT, &routed.by_default);
    handle_chain(r, SENDER_ASSESSOR, &routed.assessor);
    if (r->pending.failed)
        return err_set(err, ERR_MEMORY, "replay: out of memory");
    return 0;
}

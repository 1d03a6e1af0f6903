/* SPDX-License-Identifier: MIT */
#include "dispatcher/proxy.h"

#include "core/err.h"
#include "core/log.h"
#include "dispatcher/proxy_setup.h"
#include "frame.h"
#include "json.h"
#include "plugin/arguments.h"
#include "scan.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void
send_nowhere(void *ctx, enum command_code code, const char *payload, size_t len)
{
    (void)ctx;
    (void)code;
    (void)payload;
    (void)len;
}

static void
start_nothing(void *ctx)
{
    (void)ctx;
}

void
proxy_connect(struct proxy *p, struct proxy_port port)
{
    p->port = port;
}

void
proxy_limit(struct proxy *p, size_t longest)
{
    p->longest = longest;
}

/* ---- for who serves the program ---- */

size_t
proxy_bytes(const struct proxy *p)
{
    return p->ended ? 0 : p->kind->bytes(p);
}

void
proxy_name_due(const struct proxy *p, char *out, size_t size)
{
    p->kind->name_due(p, out, size);
}

const struct proxy_setup *
proxy_setup(const struct proxy *p)
{
    return p->setup;
}

/* ---- for its kinds ---- */

bool
proxy_restart(struct proxy *p)
{
    if (!p->gone)
        return false;
    p->gone = false;
    p->port.start(p->port.ctx);
    return true;
}

/* ---- speaking ---- */

void
proxy_send(struct proxy *p, enum command_code code)
{
    if (p->side.payload.failed)
        side_out_of_memory(&p->side);
    else if (!p->side.fatal)
        p->port.send(p->port.ctx, code, p->side.payload.data,
                     p->side.payload.len);
}

void
proxy_send_end(struct proxy *p, const struct trial_end *end, struct buf *hyper)
{
    enum end_event event = end->stopped ? END_EARLY_STOPPED : end->event;
    struct buf *out = &p->side.payload;
    struct json_writer w;

    buf_clear(out);
    w = json_begin_object(out);
    json_add_text(&w, "trial_job_id", end->job);
    json_add_text(&w, "event", command_event_name(event));
    json_add_text(&w, "hyper_params", buf_text(hyper));
    json_close(&w);
    out->failed = out->failed || hyper->failed;
    proxy_send(p, CMD_TRIAL_END);
}

void
proxy_failed(struct proxy *p, const char *fmt, ...)
{
    char text[ERR_TEXT_MAX];
    struct err err;
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    err_set(&err, ERR_PLUGIN, "%s: %s", p->setup->title, text);
    side_failed(&p->side, &err);
}

/* Copies a frame's payload as text, made valid UTF-8 and cut to fit. */
static void
read_words(char *text, size_t size, const struct frame *frame)
{
    size_t len = 0;

    for (size_t i = 0, n; i < frame->len; i += n, len += n) {
        n = scan_utf8(frame->payload + i, frame->len - i);
        if (len + (n == 0 ? 1 : n) >= size)
            break;
        if (n == 0)
            text[len] = '?';
        else
            memcpy(text + len, frame->payload + i, n);
        n = n == 0 ? 1 : n;
    }
    text[len] = '\0';
}

void
proxy_says(struct proxy *p, const struct frame *frame)
{
    char text[sizeof p->said];

    read_words(text, sizeof text, frame);
    if (p->setup->required && !p->ready)
        memcpy(p->said, text, sizeof text);
    else
        proxy_failed(p, "it says: %s", text);
}

struct json_writer
proxy_open_parameter(const struct parameter_id *id, struct buf *out)
{
    struct json_writer w = json_begin_object(out);

    switch (id->kind) {
    case PARAMETER_NUMBER:
        json_add_unsigned(&w, "parameter_id", id->number);
        break;
    case PARAMETER_LABEL:
        json_add_text(&w, "parameter_id", id->label);
        break;
    case PARAMETER_NONE:
        json_add_text(&w, "parameter_id", NULL);
        break;
    }
    return w;
}

struct json_writer
proxy_open_ids(struct proxy *p, const struct parameter_id *id, const char *job)
{
    struct json_writer w;

    buf_clear(&p->side.payload);
    w = proxy_open_parameter(id, &p->side.payload);
    json_add_text(&w, "trial_job_id", job);
    return w;
}

void
proxy_write_value(const struct command *cmd, struct buf *out)
{
    struct json *doc = NULL;
    struct jval value;
    struct buf text;

    if (!isnan(cmd->metric.value))
        doc = json_parse(cmd->payload, cmd->payload_len, JSON_NAN, NULL);
    buf_init(&text, SIZE_MAX / 2);
    if (doc == NULL || !jval_get(json_root(doc), "value", &value)) {
        json_write_text(out, "NaN");
    } else if (jval_type(value) == JSON_STRING) {
        jval_write(value, out);
    } else {
        jval_write(value, &text);
        json_write_string(out, buf_text(&text), text.len);
    }
    out->failed = out->failed || text.failed;
    buf_fini(&text);
    json_free(doc);
}

/* ---- the side ---- */

static struct proxy *
self(struct side *s)
{
    return (struct proxy *)s;
}

static const struct proxy *
proxy_of(const struct side *s)
{
    return (const struct proxy *)s;
}

static bool
begin_input(struct proxy *p, uint64_t arrival, const char *input,
            struct err *err)
{
    side_begin(&p->side, arrival, input, err);
    return !p->ended;
}

static int
end_input(struct proxy *p)
{
    p->ended = p->ended || p->side.fatal;
    return side_end(&p->side);
}

static void
settle_proxy(struct proxy *p)
{
    if (p->kind->settle != NULL && !p->side.fatal)
        p->kind->settle(p);
}

static int
take_command(struct side *s, const struct command *cmd, struct err *err)
{
    struct proxy *p = self(s);

    if (begin_input(p, cmd->arrival, command_info(cmd->code)->code, err))
        p->kind->command(p, cmd);
    return end_input(p);
}

static int
take_frame(struct side *s, uint64_t arrival, const struct frame *frame,
           struct err *err)
{
    struct proxy *p = self(s);

    snprintf(p->its, sizeof p->its, "its %.2s", frame->code);
    if (begin_input(p, arrival, p->its, err)) {
        if (strcmp(frame->code, command_info(CMD_INITIALIZED)->code) == 0)
            p->ready = true;
        p->kind->frame(p, frame);
        settle_proxy(p);
    }
    return end_input(p);
}

/* Ends the session: a required program that was never ready leaves nothing to
 * go on with. */
static void
give_up(struct proxy *p, const char *how)
{
    if (p->side.fatal)
        return;
    p->side.fatal = true;
    err_set(p->side.failure, ERR_CONFIG, "%s: %s", p->setup->title,
            p->said[0] != '\0' ? p->said : how);
}

static int
take_event(struct side *s, uint64_t arrival, enum side_event event,
           const char *how, struct err *err)
{
    struct proxy *p = self(s);

    if (!begin_input(p, arrival, event == SIDE_LATE ? "its silence" : "its end",
                     err))
        return end_input(p);
    switch (event) {
    case SIDE_LATE:
        proxy_failed(p, "%s", how);
        p->kind->late(p);
        settle_proxy(p);
        break;
    case SIDE_GONE:
        p->gone = true;
        if (p->setup->required && !p->ready) {
            give_up(p, how);
            break;
        }
        proxy_failed(p, "%s", how);
        p->kind->gone(p);
        settle_proxy(p);
        break;
    case SIDE_LEFT:
        p->gone = true;
        p->kind->gone(p);
        break;
    }
    return end_input(p);
}

static void
reopen(struct side *s)
{
    self(s)->ended = false;
}

static uint64_t
count_owed(const struct side *s)
{
    return proxy_of(s)->kind->owed == NULL
               ? 0
               : proxy_of(s)->kind->owed(proxy_of(s));
}

static bool
waits(const struct side *s)
{
    return !proxy_of(s)->ended && proxy_of(s)->kind->waits(proxy_of(s));
}

static void
see(const struct side *s, struct tuning_view *out, const struct viewer *viewer)
{
    if (proxy_of(s)->kind->see != NULL)
        proxy_of(s)->kind->see(proxy_of(s), out, viewer);
}

static const char *
key_of(const struct side *s)
{
    return s->sender == SENDER_DEFAULT ? "tuner" : "assessor";
}

static const char *
argument(const struct side *s, const char *name)
{
    return arguments_text(proxy_of(s)->setup->args, name);
}

static void
describe(const struct side *s, struct json_writer *w)
{
    proxy_setup_write(proxy_of(s)->setup, json_value(w, key_of(s)));
    if (s->sender == SENDER_DEFAULT)
        json_add_raw(w, "filters", "[]");
}

static int
check(const struct side *s, struct jval head, struct err *err)
{
    struct jval v;

    return jval_get(head, key_of(s), &v)
               ? side_check_version(v, key_of(s), "exec", PROXY_VERSION, err)
               : 0;
}

static void
free_proxy(struct side *s)
{
    self(s)->kind->free(self(s));
}

static const struct side_ops ops = {
    .free = free_proxy,
    .command = take_command,
    .frame = take_frame,
    .event = take_event,
    .reopen = reopen,
    .waits = waits,
    .owed = count_owed,
    .see = see,
    .argument = argument,
    .describe = describe,
    .check = check,
    .proxy = self,
};

void
proxy_init(struct proxy *p, const struct proxy_kind *kind, enum sender sender,
           const struct proxy_setup *setup, const struct policy *policy,
           struct emitter emitter, const struct log *log)
{
    side_init(&p->side, &ops, sender, policy, emitter, log);
    p->kind = kind;
    p->setup = setup;
    p->port = (struct proxy_port){send_nowhere, start_nothing, NULL};
    p->longest = SIZE_MAX;
}

void
proxy_fini(struct proxy *p)
{
    side_fini(&p->side);
}

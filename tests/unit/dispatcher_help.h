/* SPDX-License-Identifier: MIT */
/* dispatcher_help.h - what the tests of src/dispatcher share: random numbers
 * that are the same everywhere, commands without a wire, and a session driven
 * frame by frame on one thread, with all it sends kept as text. */
#ifndef TESTS_DISPATCHER_HELP_H
#define TESTS_DISPATCHER_HELP_H

#include "t.h"

#include "command.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/log.h"
#include "dispatcher/marks.h"
#include "dispatcher/router.h"
#include "dispatcher/session.h"
#include "dispatcher/side.h"
#include "dispatcher/view.h"
#include "frame.h"
#include "json.h"
#include "log/writer.h"
#include "plugin/paths.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HELP_SPACE "{\"x\": {\"_type\": \"uniform\", \"_value\": [0, 1]}}"

/* splitmix64 (Steele, Lea, Flood 2014) */
static inline uint64_t
help_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline uint64_t
help_below(uint64_t *state, uint64_t n)
{
    return help_random(state) % n;
}

static inline void
help_count_one(void *n, const struct living_view *v)
{
    (void)v;
    ++*(size_t *)n;
}

/* How many trials have reported and have not ended. */
static inline size_t
help_living(const struct marks *m)
{
    size_t n = 0;

    marks_see(m, &(struct viewer){.living = help_count_one, .ctx = &n});
    return n;
}

static inline struct frame
help_frame(const char *code, const char *payload)
{
    struct frame frame = {.payload = payload, .len = strlen(payload)};

    memcpy(frame.code, code, 3);
    return frame;
}

/* A frame as a log has it, its fact read back: borrowed until the next call. */
static inline struct emission
help_said(enum sender sender, uint64_t cause, enum command_code code,
          const char *payload)
{
    static struct buf text;
    struct emission e = {.sender = sender,
                         .cause = cause,
                         .code = code,
                         .payload = payload,
                         .len = strlen(payload)};

    text.max = 1 << 20;
    CHECK_EQ(emission_read(&e, &text), 0);
    return e;
}

/* A ping with that number, as good as any for a queue. */
static inline struct command *
help_command(uint64_t arrival)
{
    struct frame frame = help_frame("PI", "");
    struct err err;
    struct command *cmd = command_decode(&frame, arrival, &err);

    CHECK(cmd != NULL);
    return cmd;
}

/* ---- a session ---- */

struct drive {
    struct session_setup setup;
    struct plugin_paths *paths;
    struct json *tuner_args, *assessor_args;
    struct session *session;
    struct logwriter *log; /* NULL: none */
    struct log lines;      /* to the file "lines" */
    uint64_t arrivals;
    struct buf sent; /* "2 TR {...}\n" a frame: cause, code, payload */
    struct err err;
    int failed; /* handlers that ended the session */
};

static inline void
drive_emit(void *ctx, const struct emission *e)
{
    struct drive *d = ctx;

    buf_printf(&d->sent, "%" PRIu64 " %s %.*s\n", e->cause,
               command_info(e->code)->code, (int)e->len,
               e->len > 0 ? e->payload : "");
    if (d->log != NULL) {
        emission_record(e, d->log);
        CHECK_EQ(logwriter_flush(d->log, &d->err), 0);
    }
    router_written(d->session->router, e);
}

static inline struct json *
drive_args(const char *text)
{
    struct json *doc =
        text == NULL ? NULL : json_parse(text, strlen(text), JSON_STRICT, NULL);

    CHECK((doc == NULL) == (text == NULL));
    return doc;
}

/* Plugins are found among the test plugins and beside them; args may be
 * NULL. */
static inline void
drive_setup(struct drive *d, const char *tuner, const char *args,
            const char *assessor, const char *assessor_args)
{
    char path[4096];

    *d = (struct drive){.setup = {.tuner = tuner,
                                  .assessor = assessor,
                                  .seed = 1,
                                  .policy = {.stopped = TELL_LATEST},
                                  .digits = FRAME_DIGITS,
                                  .max_payload = FRAME_PAYLOAD_MAX_DEFAULT}};
    snprintf(path, sizeof path, "%s:%s", t_build("tests/plugins"),
             t_build("plugins"));
    d->paths = plugin_paths_new(path, &d->err);
    CHECK(d->paths != NULL);
    d->setup.paths = d->paths;
    d->tuner_args = drive_args(args);
    d->assessor_args = drive_args(assessor_args);
    if (d->tuner_args != NULL)
        d->setup.tuner_args = json_root(d->tuner_args);
    if (d->assessor_args != NULL)
        d->setup.assessor_args = json_root(d->assessor_args);
    buf_init(&d->sent, (size_t)1 << 28);
    d->lines =
        (struct log){.fd = open("lines", O_WRONLY | O_CREAT | O_APPEND, 0600),
                     .most = LOG_INFO,
                     .name = "tunepipe"};
    err_clear(&d->err);
}

static inline void
drive_start(struct drive *d)
{
    struct emitter emitter = {drive_emit, d};

    d->session = session_new(&d->setup, emitter, &d->lines, &d->err);
    CHECK_STR(d->err.text, "");
    CHECK(d->session != NULL);
}

/* ... and records from here on. */
static inline void
drive_record(struct drive *d, const char *folder)
{
    struct buf head;

    buf_init(&head, 1 << 20);
    session_write_head(d->session, &d->setup, &head);
    d->log = logwriter_create(folder, head.data, head.len, NULL, &d->err);
    CHECK_STR(d->err.text, "");
    buf_fini(&head);
}

static inline void
drive_chain(struct drive *d, enum sender side, struct chain *chain)
{
    struct command *next;

    for (struct command *cmd = chain->first; cmd != NULL; cmd = next) {
        next = cmd->next;
        if (side_command(d->session->sides[side], cmd, &d->err) != 0)
            d->failed++;
        command_free(cmd);
    }
}

static inline enum router_result
drive_bytes(struct drive *d, const char *code, const char *payload, size_t len)
{
    struct frame frame = help_frame(code, "");
    struct routed routed = {0};
    enum router_result word;

    frame.payload = payload;
    frame.len = len;
    if (d->log != NULL) {
        logwriter_frame(d->log, RECORD_IN, d->arrivals + 1, &frame);
        CHECK_EQ(logwriter_flush(d->log, &d->err), 0);
    }
    word = router_frame(d->session->router, &frame, ++d->arrivals, &routed);
    drive_chain(d, SENDER_DEFAULT, &routed.by_default);
    drive_chain(d, SENDER_ASSESSOR, &routed.assessor);
    return word;
}

/* Sends; what was sent before is forgotten.  Returns what comes back. */
static inline const char *
drive_send(struct drive *d, const char *code, const char *fmt, ...)
{
    char *payload;
    va_list ap;

    va_start(ap, fmt);
    CHECK(vasprintf(&payload, fmt, ap) >= 0);
    va_end(ap);
    buf_clear(&d->sent);
    drive_bytes(d, code, payload, strlen(payload));
    free(payload);
    return buf_text(&d->sent);
}

static inline const char *
drive_periodical(struct drive *d, int id, const char *job, int sequence,
                 const char *value)
{
    return drive_send(d, "ME",
                      "{\"parameter_id\": %d, \"trial_job_id\": \"%s\", "
                      "\"type\": \"PERIODICAL\", \"sequence\": %d, "
                      "\"value\": \"%s\"}",
                      id, job, sequence, value);
}

static inline const char *
drive_final(struct drive *d, int id, const char *job, const char *value)
{
    return drive_send(d, "ME",
                      "{\"parameter_id\": %d, \"trial_job_id\": \"%s\", "
                      "\"type\": \"FINAL\", \"sequence\": 0, "
                      "\"value\": \"%s\"}",
                      id, job, value);
}

static inline const char *
drive_end(struct drive *d, int id, const char *job, const char *event)
{
    return drive_send(d, "EN",
                      "{\"trial_job_id\": \"%s\", \"event\": \"%s\", "
                      "\"hyper_params\": \"{\\\"parameter_id\\\": %d}\"}",
                      job, event, id);
}

/* All lines written so far; borrowed until the next call. */
static inline const char *
drive_lines(struct drive *d)
{
    static char text[65536];
    int fd = open("lines", O_RDONLY);
    ssize_t n = read(fd, text, sizeof text - 1);

    (void)d;
    CHECK(n >= 0);
    text[n] = '\0';
    close(fd);
    return text;
}

static inline void
drive_stop(struct drive *d)
{
    if (d->log != NULL) {
        logwriter_text(d->log, RECORD_END, d->arrivals, "end of file");
        CHECK_EQ(logwriter_flush(d->log, &d->err), 0);
        CHECK_EQ(logwriter_sync(d->log, &d->err), 0);
        logwriter_free(d->log);
    }
    session_free(d->session);
    plugin_paths_free(d->paths);
    json_free(d->tuner_args);
    json_free(d->assessor_args);
    buf_fini(&d->sent);
    close(d->lines.fd);
}

#endif

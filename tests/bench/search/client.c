/* SPDX-License-Identifier: MIT */
#include "client.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/number.h"
#include "frame.h"
#include "json.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define PATIENCE_MS 300000
#define OUT_MAX ((size_t)1 << 30)

struct client {
    pid_t pid; /* 0: it was waited for */
    int status;
    int to, from;
    int words; /* a file in memory with its stderr */
    struct frame_decoder decoder;
    struct buf out;
    size_t sent; /* of it */
};

static int
spawn(struct client *c, const char *const *argv, const int in[2],
      const int out[2])
{
    posix_spawn_file_actions_t actions;
    int rc;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_adddup2(&actions, c->words, 2);
    rc = posix_spawnp(&c->pid, argv[0], &actions, NULL,
                      (char *const *)(uintptr_t)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

struct client *
client_open(const char *const *argv, struct err *err)
{
    struct client *c = calloc(1, sizeof *c);
    int in[2] = {-1, -1}, out[2] = {-1, -1}, rc;

    if (c == NULL) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    signal(SIGPIPE, SIG_IGN);
    frame_decoder_init(&c->decoder, FRAME_DIGITS, FRAME_PAYLOAD_MAX_DEFAULT);
    buf_init(&c->out, OUT_MAX);
    c->words = memfd_create("words", MFD_CLOEXEC);
    rc = c->words < 0 || pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0
             ? errno
             : spawn(c, argv, in, out);
    close(in[0]);
    close(out[1]);
    c->to = in[1];
    c->from = out[0];
    if (rc == 0)
        return c;
    err_set(err, ERR_SYSTEM, "%s: cannot be started: error %d", argv[0], rc);
    client_close(c, NULL);
    return NULL;
}

pid_t
client_pid(const struct client *c)
{
    return c->pid;
}

/* Its last line. */
static void
last_words(const struct client *c, char *out, size_t size)
{
    off_t end = lseek(c->words, 0, SEEK_END);
    off_t from = end > (off_t)size - 1 ? end - (off_t)size + 1 : 0;
    ssize_t n = pread(c->words, out, size - 1, from);
    char *newline;

    if (n < 0)
        n = 0;
    while (n > 0 && out[n - 1] == '\n')
        n--;
    out[n] = '\0';
    newline = strrchr(out, '\n');
    if (newline != NULL)
        memmove(out, newline + 1, strlen(newline + 1) + 1);
}

/* It ends when it reads the end of its input, if not before. */
static void
wait_for(struct client *c)
{
    close(c->to);
    c->to = -1;
    if (c->pid > 0)
        waitpid(c->pid, &c->status, 0);
    c->pid = 0;
}

static int
refuse(struct client *c, const char *what, struct err *err)
{
    char words[300];

    wait_for(c);
    last_words(c, words, sizeof words);
    return err_set(err, ERR_SYSTEM, "the dispatcher %s: %s", what, words);
}

int
client_close(struct client *c, struct err *err)
{
    int rc = 0;

    if (c == NULL)
        return 0;
    wait_for(c);
    if (c->status != 0)
        rc = refuse(c, "failed", err);
    close(c->from);
    close(c->words);
    frame_decoder_fini(&c->decoder);
    buf_fini(&c->out);
    free(c);
    return rc;
}

/* ---- frames ---- */

void
client_add(struct client *c, const char *code, const char *payload)
{
    frame_encode(&c->out, FRAME_DIGITS, code, payload, strlen(payload));
}

/* Both ways at once: it may write before it has read all. */
static int
pump(struct client *c, struct err *err)
{
    struct pollfd fds[2] = {
        {.fd = c->from, .events = POLLIN},
        {.fd = c->out.len > c->sent ? c->to : -1, .events = POLLOUT},
    };
    ssize_t n;

    if (poll(fds, 2, PATIENCE_MS) <= 0)
        return refuse(c, "did not answer in time", err);
    if (fds[1].revents != 0) {
        size_t left = c->out.len - c->sent;

        n = write(c->to, c->out.data + c->sent, left < 4096 ? left : 4096);
        if (n < 0)
            return refuse(c, "reads no more", err);
        c->sent += (size_t)n;
        if (c->sent == c->out.len) {
            buf_clear(&c->out);
            c->sent = 0;
        }
    }
    if (fds[0].revents != 0) {
        size_t room;
        char *to = frame_room(&c->decoder, &room);

        n = to == NULL ? 0 : read(c->from, to, room);
        if (n <= 0)
            return refuse(c, "ended too early", err);
        frame_filled(&c->decoder, (size_t)n);
    }
    return 0;
}

static int
next_frame(struct client *c, struct frame *f, struct err *err)
{
    enum frame_status status;

    if (buf_check(&c->out, "what is sent", err) != 0)
        return -1;
    for (;;) {
        status = frame_next(&c->decoder, f, err);
        if (status == FRAME_BROKEN)
            return -1;
        if (status == FRAME_READY)
            return 0;
        if (pump(c, err) != 0)
            return -1;
    }
}

int
client_begin(struct client *c, const char *space, struct err *err)
{
    struct frame f;

    client_add(c, "IN", space);
    if (next_frame(c, &f, err) != 0)
        return -1;
    if (strcmp(f.code, "ID") != 0)
        return refuse(c, "did not say ID", err);
    return 0;
}

int
client_request(struct client *c, size_t n, struct err *err)
{
    char text[NUMBER_TEXT_MAX];

    snprintf(text, sizeof text, "%zu", n);
    client_add(c, "GE", text);
    while (c->out.len > 0)
        if (pump(c, err) != 0)
            return -1;
    return 0;
}

int
client_trial(struct client *c, uint64_t *id, struct json **out, struct err *err)
{
    struct jval v;
    struct frame f;

    if (next_frame(c, &f, err) != 0)
        return -1;
    if (strcmp(f.code, "NO") == 0)
        return 0;
    if (strcmp(f.code, "TR") != 0)
        return refuse(c, "sent another frame than TR", err);
    *out = json_parse(f.payload, f.len, JSON_STRICT, err);
    if (*out == NULL)
        return -1;
    if (jval_get(json_root(*out), "parameter_id", &v) && jval_uint(v, id))
        return 1;
    json_free(*out);
    return refuse(c, "sent a trial without a number", err);
}

static void
add_end(struct client *c, uint64_t id, const char *event)
{
    char text[512];

    snprintf(text, sizeof text,
             "{\"trial_job_id\": \"t%" PRIu64 "\", \"event\": \"%s\", "
             "\"hyper_params\": \"{\\\"parameter_id\\\": %" PRIu64
             ", \\\"parameter_source\\\": \\\"algorithm\\\"}\"}",
             id, event, id);
    client_add(c, "EN", text);
}

void
client_report(struct client *c, uint64_t id, const char *value)
{
    struct buf text;

    buf_init(&text, 1 << 20);
    buf_printf(&text,
               "{\"parameter_id\": %" PRIu64 ", \"trial_job_id\": \"t%" PRIu64
               "\", \"type\": \"FINAL\", \"sequence\": 0, \"value\": ",
               id, id);
    json_write_string(&text, value, strlen(value));
    buf_add_text(&text, "}");
    client_add(c, "ME", buf_text(&text));
    buf_fini(&text);
    add_end(c, id, "SUCCEEDED");
}

void
client_result(struct client *c, uint64_t id, double value)
{
    char number[NUMBER_TEXT_MAX];

    number_format(value, number);
    client_report(c, id, number);
}

void
client_failure(struct client *c, uint64_t id)
{
    add_end(c, id, "FAILED");
}

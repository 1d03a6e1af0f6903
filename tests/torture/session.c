/* SPDX-License-Identifier: MIT */
/* A session without memory for what it is given: whatever it says to people
 * of that, it says that there was none. */
#include "torture.h"

#include "command.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/log.h"
#include "dispatcher/session.h"
#include "dispatcher/side.h"
#include "frame.h"
#include "json.h"
#include "plugin/paths.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char space_text[] =
    "{\"x\": {\"_type\": \"uniform\", \"_value\": [0, 1]}}";
static const char recovered[] =
    "[{\"parameter_id\": 7, \"parameters\": {\"x\": 0.5}}, "
    "{\"parameter_id\": 9, \"parameters\": {\"x\": 0.25}}]";

struct driven {
    struct session *session;
    uint64_t arrivals;
    struct err *err;
};

static int
frame_of(struct frame *f, const char *code, const char *payload)
{
    *f = (struct frame){.payload = payload, .len = strlen(payload)};
    memcpy(f->code, code, 3);
    return 0;
}

/* A command of the manager's. */
static int
send(struct driven *d, const char *code, const char *payload)
{
    struct command *cmd;
    struct frame f;
    int rc;

    frame_of(&f, code, payload);
    cmd = command_decode(&f, ++d->arrivals, d->err);
    if (cmd == NULL)
        return -1;
    rc = side_command(d->session->sides[SENDER_DEFAULT], cmd, d->err);
    command_free(cmd);
    return rc;
}

/* A frame of the program's. */
static int
hear(struct driven *d, const char *code, const char *payload)
{
    struct frame f;

    frame_of(&f, code, payload);
    return side_frame(d->session->sides[SENDER_DEFAULT], ++d->arrivals, &f,
                      d->err);
}

static int
drive_plugin(struct driven *d)
{
    return send(d, "IN", space_text) != 0 || send(d, "GE", "2") != 0 ||
                   send(d, "AD", recovered) != 0 || send(d, "GE", "1") != 0
               ? -1
               : 0;
}

static int
drive_program(struct driven *d)
{
    return send(d, "IN", space_text) != 0 ||
                   hear(d, "ID", "{\"last\": 1}") != 0 ||
                   send(d, "AD", recovered) != 0
               ? -1
               : 0;
}

static void
forget(void *ctx, const struct emission *e)
{
    (void)ctx;
    (void)e;
}

/* Keeps the first line: what it blames comes of the lack of memory, and those
 * behind it come of it. */
static void
read_line(void *ctx, enum log_level level, const char *text)
{
    char *first = ctx;

    if (level <= LOG_WARNING && first[0] == '\0')
        snprintf(first, ERR_TEXT_MAX, "%s", text);
}

static int
run(const char *tuner, const char *args, int (*drive)(struct driven *),
    struct err *err)
{
    char first[ERR_TEXT_MAX] = "";
    const struct log_sink sink = {read_line, first, LOG_WARNING};
    const struct log log = {.fd = open("lines", O_WRONLY | O_CREAT, 0600),
                            .most = LOG_ERROR,
                            .name = "tunepipe",
                            .also = &sink};
    struct session_setup setup = {.tuner = tuner,
                                  .seed = 1,
                                  .policy = {.extensions = true},
                                  .digits = FRAME_DIGITS,
                                  .max_payload = FRAME_PAYLOAD_MAX_DEFAULT};
    struct plugin_paths *paths = plugin_paths_new(NULL, err);
    struct json *doc = json_parse(args, strlen(args), JSON_STRICT, err);
    struct driven d = {.err = err};
    int rc = -1;

    if (paths != NULL && doc != NULL) {
        setup.paths = paths;
        setup.tuner_args = json_root(doc);
        d.session =
            session_new(&setup, (struct emitter){forget, NULL}, &log, err);
    }
    if (d.session != NULL) {
        rc = drive(&d);
        session_free(d.session);
    }
    plugin_paths_free(paths);
    json_free(doc);
    close(log.fd);
    return first[0] == '\0' ? rc : err_set(err, ERR_INPUT, "%s", first);
}

static int
labels(struct err *err)
{
    const char *build = getenv("TP_BUILD");
    char file[PATH_MAX];

    snprintf(file, sizeof file, "%s/tests/plugins/labels.so",
             build == NULL ? "." : build);
    if (dlopen(file, RTLD_NOW | RTLD_LOCAL) == NULL) /* for good */
        fprintf(stderr, "%s\n", dlerror());
    return run(file, "{}", drive_plugin, err);
}

static int
program(struct err *err)
{
    return run("exec", "{\"command\": [\"true\"]}", drive_program, err);
}

const struct torture_case torture_session[] = {{"session_labels", labels, 1},
                                               {"session_program", program, 1},
                                               {NULL, NULL, 0}};

/* SPDX-License-Identifier: MIT */
/* readers.h - for benchmarks: three programs that do less than a dispatcher
 * with the same bytes.  Each reads standard input to its end and says ID before
 * and after, so that the time between can be taken from outside. */
#ifndef TESTS_BENCH_READERS_H
#define TESTS_BENCH_READERS_H

#include "command.h"
#include "core/buf.h"
#include "core/err.h"
#include "frame.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct reader {
    const char *name;
    void (*take)(const struct frame *f, struct json_tokener *tokener);
};

static inline void
reader_fail(const char *what)
{
    fprintf(stderr, "bench: reader: %s\n", what);
    exit(1);
}

static inline void
take_frame(const struct frame *f, struct json_tokener *tokener)
{
    (void)f;
    (void)tokener;
}

static inline struct json_object *
parse(struct json_tokener *tokener, const char *text, size_t len)
{
    struct json_object *o;

    json_tokener_reset(tokener);
    o = json_tokener_parse_ex(tokener, text, (int)len);
    /* A number may go on: json-c wants to see the end. */
    if (json_tokener_get_error(tokener) == json_tokener_continue)
        o = json_tokener_parse_ex(tokener, "", 1);
    if (json_tokener_get_error(tokener) != json_tokener_success)
        reader_fail("json-c refuses a payload");
    return o;
}

/* The payload, and the JSON inside it: a value, or a trial's parameters. */
static inline void
take_json(const struct frame *f, struct json_tokener *tokener)
{
    struct json_object *outer, *inner;

    if (f->len == 0)
        return;
    outer = parse(tokener, f->payload, f->len);
    if (json_object_is_type(outer, json_type_object) &&
        (json_object_object_get_ex(outer, "value", &inner) ||
         json_object_object_get_ex(outer, "hyper_params", &inner)))
        json_object_put(parse(tokener, json_object_get_string(inner),
                              (size_t)json_object_get_string_len(inner)));
    json_object_put(outer);
}

static inline void
take_command(const struct frame *f, struct json_tokener *tokener)
{
    struct err err;
    struct command *cmd = command_decode(f, 1, &err);

    (void)tokener;
    if (cmd == NULL)
        reader_fail(err.text);
    command_free(cmd);
}

static const struct reader readers[] = {
    {"framed", take_frame},
    {"json-c", take_json},
    {"decoded", take_command},
};
#define N_READERS (sizeof readers / sizeof *readers)

static inline void
say_initialized(void)
{
    static const char frame[] = "ID00000000000000";

    if (write(1, frame, sizeof frame - 1) != sizeof frame - 1)
        reader_fail("cannot write");
}

static inline int
reader_main(const char *name)
{
    const struct reader *r = readers;
    struct json_tokener *tokener = json_tokener_new();
    struct frame_decoder d;
    struct frame f;
    struct err err;
    ssize_t n;

    while (r < readers + N_READERS && strcmp(r->name, name) != 0)
        r++;
    if (r == readers + N_READERS || tokener == NULL)
        reader_fail(name);
    frame_decoder_init(&d, FRAME_DIGITS, FRAME_PAYLOAD_MAX_DEFAULT);
    say_initialized();
    do {
        size_t room;
        char *to = frame_room(&d, &room);

        n = to == NULL ? 0 : read(0, to, room);
        frame_filled(&d, n > 0 ? (size_t)n : 0);
        while (frame_next(&d, &f, &err) == FRAME_READY)
            r->take(&f, tokener);
    } while (n > 0);
    say_initialized();
    frame_decoder_fini(&d);
    json_tokener_free(tokener);
    return 0;
}

#endif

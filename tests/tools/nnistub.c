/* SPDX-License-Identifier: MIT */
/* nnistub: the tuner of NNI's test_msg_dispatcher.py as a program.  Each
 * suggestion has `param` 2, 4, 6, ..., the results so far as [id, param, value,
 * customized], and the last search space. */
#include "core/buf.h"
#include "core/err.h"
#include "frame.h"
#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct stub {
    struct buf space, results, out;
    uint64_t given;
};

static void
send_frame(struct stub *s, const char *code, const struct buf *payload)
{
    buf_clear(&s->out);
    frame_encode(&s->out, FRAME_DIGITS, code, payload->data, payload->len);
    if (write(1, s->out.data, s->out.len) != (ssize_t)s->out.len)
        exit(1);
}

static void
suggest(struct stub *s)
{
    struct buf text;

    buf_init(&text, 1 << 20);
    buf_printf(&text,
               "{\"parameter_id\": %d, \"parameters\": {\"param\": %d, "
               "\"trial_results\": [%s], \"search_space\": %s}}",
               (int)s->given, 2 * ((int)s->given + 1), buf_text(&s->results),
               buf_text(&s->space));
    s->given++;
    send_frame(s, "TR", &text);
    buf_fini(&text);
}

static void
take_result(struct stub *s, const char *text, size_t len)
{
    struct json *doc = json_parse(text, len, JSON_NAN, NULL);
    struct jval id, value;
    const char *number = "";
    uint64_t n = 0;

    if (doc == NULL || !jval_get(json_root(doc), "parameter_id", &id) ||
        !jval_uint(id, &n) || !jval_get(json_root(doc), "value", &value) ||
        !jval_string(value, &number, NULL))
        exit(1);
    buf_printf(&s->results, "%s[%d, %d, %s, false]",
               s->results.len > 0 ? ", " : "", (int)n, 2 * ((int)n + 1),
               number);
    json_free(doc);
}

static long
count_of(const struct frame *f)
{
    char digits[16];

    snprintf(digits, sizeof digits, "%.*s", (int)f->len, f->payload);
    return strtol(digits, NULL, 10);
}

static void
handle(struct stub *s, const struct frame *f)
{
    struct buf nothing = {0};
    bool is_space = strcmp(f->code, "IN") == 0 || strcmp(f->code, "SS") == 0;

    if (is_space) {
        buf_clear(&s->space);
        buf_add(&s->space, f->payload, f->len);
    }
    if (strcmp(f->code, "IN") == 0)
        send_frame(s, "ID", &nothing);
    else if (strcmp(f->code, "GE") == 0)
        for (long n = count_of(f); n > 0; n--)
            suggest(s);
    else if (strcmp(f->code, "ME") == 0)
        take_result(s, f->payload, f->len);
    else if (strcmp(f->code, "TE") == 0)
        exit(0);
}

int
main(void)
{
    static struct stub s;
    struct frame_decoder d;
    struct frame f;
    struct err err;

    buf_init(&s.space, 1 << 20);
    buf_init(&s.results, 1 << 20);
    buf_init(&s.out, 1 << 20);
    frame_decoder_init(&d, FRAME_DIGITS, 1 << 20);
    for (;;) {
        size_t room;
        char *to = frame_room(&d, &room);
        ssize_t n = read(0, to, room);

        if (n <= 0)
            return 0;
        frame_filled(&d, (size_t)n);
        while (frame_next(&d, &f, &err) == FRAME_READY)
            handle(&s, &f);
    }
}

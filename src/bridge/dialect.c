/* SPDX-License-Identifier: MIT */
#include "bridge/dialect.h"

#include "core/buf.h"
#include "core/err.h"
#include "frame.h"
#include "json.h"
#include "quote.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static const struct {
    const char *type;
    enum message message;
} controls[] = {{"_nop_", MESSAGE_NOTHING}, {"_bye_", MESSAGE_BYE}};
#define N_CONTROLS (sizeof controls / sizeof *controls)

static bool
is_code(const char *text, size_t len)
{
    return len >= 2 && text[0] >= 'A' && text[0] <= 'Z' && text[1] >= 'A' &&
           text[1] <= 'Z';
}

static enum message
pass(struct buf *frames, const char *code, const char *payload, size_t len)
{
    frame_encode(frames, FRAME_DIGITS, code, payload, len);
    return memcmp(code, "TE", 2) == 0 ? MESSAGE_TERMINATE : MESSAGE_FRAME;
}

static enum message
strange(const char *text, size_t len, const char *expected, struct err *err)
{
    char begin[QUOTE_MAX];

    err_set(err, ERR_INPUT, "a message of %zu bytes that begins %s: %s", len,
            quote_bytes(begin, text, len), expected);
    return MESSAGE_STRANGE;
}

static enum message
read_plain(const char *text, size_t len, struct buf *frames, struct err *err)
{
    if (!is_code(text, len))
        return strange(text, len, "expected a command's two capital letters",
                       err);
    return pass(frames, text, text + 2, len - 2);
}

/* Reads a command's content, which is a string; anything else is taken as its
 * text. */
static enum message
read_command(const char *type, struct jval root, struct buf *frames)
{
    const char *content = "";
    struct jval v;
    struct buf text;
    enum message m;
    size_t len = 0;

    if (!jval_get(root, "content", &v) || jval_type(v) == JSON_NULL ||
        jval_string(v, &content, &len))
        return pass(frames, type, content, len);
    buf_init(&text, SIZE_MAX / 4);
    jval_write(v, &text);
    m = pass(frames, type, text.data, text.len);
    frames->failed |= text.failed;
    buf_fini(&text);
    return m;
}

static enum message
read_object(struct jval root, const char *text, size_t len, struct buf *frames,
            struct err *err)
{
    const char *type;
    struct jval v;
    size_t n;

    if (!jval_get(root, "type", &v) || !jval_string(v, &type, &n))
        return strange(text, len, "expected an object with a string `type`",
                       err);
    for (size_t i = 0; i < N_CONTROLS; i++)
        if (strcmp(type, controls[i].type) == 0)
            return controls[i].message;
    if (n != 2 || !is_code(type, n))
        return strange(text, len,
                       "expected a type of two capital letters, _nop_ or _bye_",
                       err);
    return read_command(type, root, frames);
}

static enum message
read_json(const char *text, size_t len, struct buf *frames, struct err *err)
{
    struct err why;
    struct json *doc = json_parse(text, len, JSON_STRICT, &why);
    enum message m;

    if (doc == NULL)
        return strange(text, len, why.text, err);
    m = read_object(json_root(doc), text, len, frames, err);
    json_free(doc);
    return m;
}

enum message
dialect_read(enum dialect *d, const char *text, size_t len, struct buf *frames,
             struct err *err)
{
    if (*d == DIALECT_UNKNOWN && len > 0 && text[0] == '{')
        *d = DIALECT_JSON;
    else if (*d == DIALECT_UNKNOWN && is_code(text, len))
        *d = DIALECT_PLAIN;
    switch (*d) {
    case DIALECT_UNKNOWN:
        break;
    case DIALECT_PLAIN:
        return read_plain(text, len, frames, err);
    case DIALECT_JSON:
        return read_json(text, len, frames, err);
    }
    return strange(text, len,
                   "expected a command of NNI 2.8 to 2.10, such as GE2, or an "
                   "object of 3.0",
                   err);
}

void
dialect_write(enum dialect d, struct buf *out, const char code[2],
              const char *payload, size_t len)
{
    struct json_writer w;

    if (d != DIALECT_JSON) {
        buf_add(out, code, 2);
        buf_add(out, payload, len);
        return;
    }
    w = json_begin_object(out);
    json_add_string(&w, "type", code, 2);
    json_add_string(&w, "content", payload, len);
    json_close(&w);
}

const char *
dialect_name(enum dialect d)
{
    static const char *const names[] = {
        [DIALECT_UNKNOWN] = "an unknown manager",
        [DIALECT_PLAIN] = "NNI 2.8 to 2.10",
        [DIALECT_JSON] = "NNI 3.0",
    };

    return names[d];
}

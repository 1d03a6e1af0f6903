/* SPDX-License-Identifier: MIT */
#include "core/visible.h"

#include "core/buf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The length of the UTF-8 character at text, *out its code; 0: it is none. */
static size_t
decode(const unsigned char *text, size_t len, uint32_t *out)
{
    size_t n = text[0] < 0x80   ? 1
               : text[0] < 0xc2 ? 0
               : text[0] < 0xe0 ? 2
               : text[0] < 0xf0 ? 3
               : text[0] < 0xf5 ? 4
                                : 0;

    if (n == 0 || n > len)
        return 0;
    *out = n == 1 ? text[0] : text[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        *out = *out << 6 | (text[i] & 0x3fu);
    }
    return n;
}

bool
visible_is_plain(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } acting[] = {
        {0, 0x1f},          {0x7f, 0x9f}, /* C0, DEL, C1 */
        {0xad, 0xad},       /* a hyphen, at the end of a line only */
        {0x61c, 0x61c},     /* a mark of the direction */
        {0x180e, 0x180e},   /* no width */
        {0x200b, 0x200f},   /* no width; two marks */
        {0x2028, 0x202e},   /* lines; embeddings, overrides */
        {0x2060, 0x206f},   /* no width; isolates */
        {0xfeff, 0xfeff},   /* no width */
        {0xfff9, 0xfffb},   /* annotations */
        {0xe0000, 0xe0fff}, /* tags: ASCII unseen */
    };

    for (size_t i = 0; i < sizeof acting / sizeof *acting; i++)
        if (c <= acting[i].last)
            return c < acting[i].first;
    return true;
}

/* How many bytes the next character takes, at least one; *plain: it can be
 * shown as it is. */
static size_t
next(const char *text, size_t len, bool *plain)
{
    uint32_t c = 0;
    size_t n = decode((const unsigned char *)text, len, &c);

    *plain = n > 0 && visible_is_plain(c);
    return n == 0 ? 1 : n;
}

void
visible_text(struct buf *out, const char *text, size_t len, size_t most)
{
    size_t i = 0, n;
    bool plain;

    for (; i < len && i < most; i += n) {
        n = next(text + i, len - i, &plain);
        if (plain)
            buf_add(out, text + i, n);
        else
            buf_add_char(out, '?');
    }
    if (i < len)
        buf_add_text(out, "...");
}

void
visible_line(char *text)
{
    size_t len = strlen(text), to = 0, n;
    bool plain;

    for (size_t i = 0; i < len; i += n) {
        n = next(text + i, len - i, &plain);
        if (plain) {
            memmove(text + to, text + i, n);
            to += n;
        } else {
            unsigned char c = (unsigned char)text[i];

            text[to++] = c < ' ' || c == 127 ? ' ' : '?';
        }
    }
    text[to] = '\0';
}

void
visible_printf(FILE *out, const char *fmt, ...)
{
    char *text = NULL, *at, *line;
    struct buf shown;
    va_list ap;
    int len;

    va_start(ap, fmt);
    len = vasprintf(&text, fmt, ap);
    va_end(ap);
    if (len < 0)
        return;
    buf_init(&shown, SIZE_MAX / 2);
    for (at = text; (line = strsep(&at, "\n")) != NULL;) {
        visible_text(&shown, line, strlen(line), SIZE_MAX);
        if (at != NULL)
            buf_add_char(&shown, '\n');
    }
    fputs(buf_text(&shown), out);
    buf_fini(&shown);
    free(text);
}

/* SPDX-License-Identifier: MIT */
#include "core/visible.h"

#include "core/buf.h"

#include <stdarg.h>
#include <stdbool.h>
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

/* Whether a terminal obeys the character, or shows nothing for it. */
static bool
is_obeyed(uint32_t c)
{
    return c < ' ' || (c >= 0x7f && c < 0xa0) ||       /* C0, DEL, C1 */
           c == 0x61c || c == 0x200e || c == 0x200f || /* direction marks */
           (c >= 0x2028 && c <= 0x202e) || /* lines; embeddings, overrides */
           (c >= 0x2066 && c <= 0x2069) || /* isolates */
           c == 0xfeff;
}

/* How many bytes the next character takes, at least one; *plain: it can be
 * shown as it is. */
static size_t
next(const char *text, size_t len, bool *plain)
{
    uint32_t c = 0;
    size_t n = decode((const unsigned char *)text, len, &c);

    *plain = n > 0 && !is_obeyed(c);
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

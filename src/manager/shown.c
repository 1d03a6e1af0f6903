/* SPDX-License-Identifier: MIT */
#include "manager/shown.h"

#include "core/buf.h"
#include "core/number.h"
#include "manager/parameters.h"

#include <string.h>
#include <sys/ioctl.h>

#define SHORT_MAX 40
#define PARAMETERS_MAX 400

/* The length of the printable UTF-8 character at text; 0: none. */
static size_t
printable(const unsigned char *text, size_t len)
{
    size_t n = text[0] < 0x80   ? 1
               : text[0] < 0xc2 ? 0
               : text[0] < 0xe0 ? 2
               : text[0] < 0xf0 ? 3
               : text[0] < 0xf5 ? 4
                                : 0;

    if (n == 0 || n > len || (n == 1 && (text[0] < ' ' || text[0] == 127)))
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    /* U+0080 to U+009F are controls as well. */
    return n == 2 && text[0] == 0xc2 && text[1] < 0xa0 ? 0 : n;
}

void
shown_text(struct buf *out, const char *text, size_t len, size_t most)
{
    size_t i = 0;

    while (i < len && i < most) {
        size_t n = printable((const unsigned char *)text + i, len - i);

        if (n == 0)
            buf_add_char(out, '?');
        else
            buf_add(out, text + i, n);
        i += n == 0 ? 1 : n;
    }
    if (i < len)
        buf_add_text(out, "...");
}

void
shown_parameter(struct buf *out, const char *name, const char *value,
                size_t len)
{
    double number;

    shown_text(out, name, strlen(name), SHORT_MAX);
    buf_add_char(out, '=');
    if (strpbrk(value, ".e") != NULL && number_parse(value, len, &number))
        buf_printf(out, "%.4g", number);
    else
        shown_text(out, value, len, SHORT_MAX);
}

static void
add_parameter(void *ctx, const char *name, const char *value, size_t len)
{
    struct buf *out = ctx;

    if (out->len >= PARAMETERS_MAX)
        return;
    if (out->len > 0)
        buf_add_text(out, "  ");
    shown_parameter(out, name, value, len);
}

void
shown_parameters(struct buf *out, struct jval parameters)
{
    parameters_flatten(parameters, add_parameter, out, NULL);
}

int
shown_columns(int fd)
{
    struct winsize size;

    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col
                                                                : 80;
}

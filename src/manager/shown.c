/* SPDX-License-Identifier: MIT */
#include "manager/shown.h"

#include "core/buf.h"
#include "core/number.h"

#include <ctype.h>
#include <string.h>

#define SHORT_MAX 40

void
shown_text(struct buf *out, const char *text, size_t len, size_t most)
{
    for (size_t i = 0; i < len && i < most; i++)
        buf_add_char(out, iscntrl((unsigned char)text[i]) ? '?' : text[i]);
    if (len > most)
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

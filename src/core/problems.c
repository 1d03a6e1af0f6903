/* SPDX-License-Identifier: MIT */
#include "core/problems.h"

#include "core/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROBLEMS_SHOWN 50

void
problems_init(struct problems *p)
{
    p->count = 0;
    buf_init(&p->lines, 256 * 1024);
}

void
problems_fini(struct problems *p)
{
    buf_fini(&p->lines);
}

void
problems_add(struct problems *p, const char *place, const char *fmt, ...)
{
    struct err line;
    char text[ERR_TEXT_MAX];
    va_list ap;

    if (p->count++ >= PROBLEMS_SHOWN)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    err_set(&line, ERR_CONFIG, "%s", text);
    if (place[0] != '\0')
        err_place(&line, "%s", place);
    buf_printf(&p->lines, "%s\n", line.text);
}

int
problems_check(struct problems *p, struct err *err)
{
    const char *text;
    int len;

    if (p->count == 0)
        return 0;
    text = buf_text(&p->lines);
    len = (int)strcspn(text, "\n");
    if (p->count == 1)
        return err_set(err, ERR_CONFIG, "%.*s", len, text);
    return err_set(err, ERR_CONFIG, "%.*s (and %zu more)", len, text,
                   p->count - 1);
}

int
problems_join(struct problems *p, struct err *err)
{
    char *text = buf_take(&p->lines);
    size_t len = text == NULL ? 0 : strlen(text);
    struct buf joined;

    buf_init(&joined, ERR_TEXT_MAX + 256 * 1024);
    for (size_t i = 0; i < len; i++)
        if (text[i] != '\n')
            buf_add_char(&joined, text[i]);
        else if (i + 1 < len)
            buf_add_text(&joined, "; ");
    err_set(err, ERR_CONFIG, "%s", buf_text(&joined));
    buf_fini(&joined);
    free(text);
    return -1;
}

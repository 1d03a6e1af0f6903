/* SPDX-License-Identifier: MIT */
#include "core/err.h"

#include "core/visible.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void
fill(struct err *err, enum err_code code, const char *fmt, va_list ap)
{
    err->code = code;
    err->number = 0;
    vsnprintf(err->text, sizeof err->text, fmt, ap);
    visible_line(err->text);
}

int
err_set(struct err *err, enum err_code code, const char *fmt, ...)
{
    va_list ap;

    if (err == NULL)
        return -1;
    va_start(ap, fmt);
    fill(err, code, fmt, ap);
    va_end(ap);
    return -1;
}

int
err_errno(struct err *err, enum err_code code, const char *fmt, ...)
{
    int number = errno;
    char text[128];
    size_t len;
    va_list ap;

    if (err == NULL)
        return -1;
    va_start(ap, fmt);
    fill(err, code, fmt, ap);
    va_end(ap);
    err->number = number;
    len = strlen(err->text);
    snprintf(err->text + len, sizeof err->text - len, ": %s",
             strerror_r(number, text, sizeof text));
    return -1;
}

int
err_place(struct err *err, const char *fmt, ...)
{
    char text[ERR_TEXT_MAX];
    int number;
    size_t len;
    va_list ap;

    if (err == NULL)
        return -1;
    number = err->number;
    memcpy(text, err->text, sizeof text);
    va_start(ap, fmt);
    fill(err, err->code, fmt, ap);
    va_end(ap);
    err->number = number;
    len = strlen(err->text);
    snprintf(err->text + len, sizeof err->text - len, ": %s", text);
    return -1;
}

void
err_clear(struct err *err)
{
    if (err == NULL)
        return;
    err->code = ERR_NONE;
    err->number = 0;
    err->text[0] = '\0';
}

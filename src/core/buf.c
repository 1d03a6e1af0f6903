/* SPDX-License-Identifier: MIT */
#include "core/buf.h"

#include "core/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
buf_init(struct buf *b, size_t max_bytes)
{
    *b = (struct buf){.max = max_bytes};
}

void
buf_fini(struct buf *b)
{
    free(b->data);
    b->data = NULL;
    b->len = b->cap = 0;
}

void
buf_clear(struct buf *b)
{
    b->len = 0;
    b->failed = false;
}

static bool
grow(struct buf *b, size_t need)
{
    size_t cap = b->cap < 64 ? 64 : b->cap;
    char *data;

    while (cap < need)
        cap = cap > b->max / 2 ? need : cap * 2;
    data = realloc(b->data, cap);
    if (data == NULL)
        return false;
    b->data = data;
    b->cap = cap;
    return true;
}

char *
buf_reserve(struct buf *b, size_t extra)
{
    /* One byte more than asked, so that buf_text() always has its NUL. */
    if (b->failed || extra > b->max || b->len > b->max - extra ||
        (b->len + extra + 1 > b->cap && !grow(b, b->len + extra + 1))) {
        b->failed = true;
        return NULL;
    }
    return b->data + b->len;
}

void
buf_add(struct buf *b, const void *data, size_t len)
{
    char *to = buf_reserve(b, len);

    if (to == NULL || len == 0)
        return;
    memcpy(to, data, len);
    b->len += len;
}

void
buf_add_text(struct buf *b, const char *text)
{
    buf_add(b, text, strlen(text));
}

void
buf_add_char(struct buf *b, char c)
{
    buf_add(b, &c, 1);
}

void
buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    int len;
    char *to;

    va_start(ap, fmt);
    len = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    to = len < 0 ? NULL : buf_reserve(b, (size_t)len);
    if (to == NULL) {
        b->failed = true;
        return;
    }
    va_start(ap, fmt);
    vsnprintf(to, (size_t)len + 1, fmt, ap);
    va_end(ap);
    b->len += (size_t)len;
}

void
buf_consume(struct buf *b, size_t len)
{
    if (len >= b->len) {
        b->len = 0;
        return;
    }
    memmove(b->data, b->data + len, b->len - len);
    b->len -= len;
}

const char *
buf_text(struct buf *b)
{
    if (b->failed || b->data == NULL)
        return "";
    b->data[b->len] = '\0';
    return b->data;
}

char *
buf_take(struct buf *b)
{
    char *data = NULL;

    if (buf_reserve(b, 0) != NULL) {
        b->data[b->len] = '\0';
        data = b->data;
        b->data = NULL;
    }
    buf_fini(b);
    b->failed = false;
    return data;
}

int
buf_check(const struct buf *b, const char *what, struct err *err)
{
    if (!b->failed)
        return 0;
    return err_set(err, ERR_MEMORY, "%s: more than %zu bytes, or out of memory",
                   what, b->max);
}

/* SPDX-License-Identifier: MIT */
#include "store/csv.h"

#include "core/buf.h"

#include <stdbool.h>
#include <string.h>

static bool
needs_quotes(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] == '"' || text[i] == ',' || text[i] == '\n' ||
            text[i] == '\r')
            return true;
    /* Some readers drop spaces at the edges. */
    return len > 0 && (text[0] == ' ' || text[len - 1] == ' ');
}

void
csv_field(struct csv *c, const char *text, size_t len)
{
    if (c->begun)
        buf_add_char(c->out, ',');
    c->begun = true;
    if (!needs_quotes(text, len)) {
        buf_add(c->out, text, len);
        return;
    }
    buf_add_char(c->out, '"');
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '"')
            buf_add_char(c->out, '"');
        buf_add_char(c->out, text[i]);
    }
    buf_add_char(c->out, '"');
}

void
csv_text(struct csv *c, const char *text)
{
    csv_field(c, text == NULL ? "" : text, text == NULL ? 0 : strlen(text));
}

void
csv_end(struct csv *c)
{
    buf_add_char(c->out, '\n');
    c->begun = false;
}

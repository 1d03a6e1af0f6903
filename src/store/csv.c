/* SPDX-License-Identifier: MIT */
#include "store/csv.h"

#include "core/buf.h"
#include "core/number.h"

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

/* A number may begin with a sign; anything else is a formula to some. */
static bool
is_formula(const char *text, size_t len)
{
    double number;

    return len > 0 && memchr("=+-@\t\r", text[0], 6) != NULL &&
           !number_parse(text, len, &number);
}

void
csv_field(struct csv *c, const char *text, size_t len)
{
    bool defused = c->safe && is_formula(text, len);

    if (c->begun)
        buf_add_char(c->out, ',');
    c->begun = true;
    if (!needs_quotes(text, len)) {
        if (defused)
            buf_add_char(c->out, '\'');
        buf_add(c->out, text, len);
        return;
    }
    buf_add_text(c->out, defused ? "\"'" : "\"");
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

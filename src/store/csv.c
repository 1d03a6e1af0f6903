/* SPDX-License-Identifier: MIT */
#include "store/csv.h"

#include "core/buf.h"
#include "core/number.h"
#include "core/visible.h"

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

/* Whether a spreadsheet takes a cell that begins so for a formula.  Some read
 * the wide signs of East Asian scripts like the narrow ones. */
static bool
begins_formula(const char *text, size_t len)
{
    static const char wide[][4] = {"\xef\xbc\x9d", "\xef\xbc\x8b",
                                   "\xef\xbc\x8d", "\xef\xbc\xa0"};

    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (len >= 3 && memcmp(text, wide[i], 3) == 0)
            return true;
    return len > 0 && memchr("=+-@", text[0], 4) != NULL;
}

/* Where cells begin for a spreadsheet that expects other separators, as it does
 * in countries whose decimals have a comma. */
static bool
is_separator(char c)
{
    return c == '\t' || c == '\r' || c == '\n' || c == ';';
}

/* How many quotes the rest of a text begins with, which go where a spreadsheet
 * takes it for a cell of its own. */
static size_t
count_quotes(const char *text, size_t len)
{
    size_t n = 0;

    while (n < len && text[n] == '"')
        n++;
    return n;
}

/* Appends a text of which nothing is run or hidden where it is opened: each
 * beginning of a formula gets a ' in front. */
static void
add_safe(struct buf *out, const char *text, size_t len)
{
    for (size_t i = 0, n, quotes; i < len; i += n) {
        quotes = i == 0 ? 0 : count_quotes(text + i, len - i);
        if (begins_formula(text + i + quotes, len - i - quotes) ||
            (i == 0 && is_separator(text[0]) && text[0] != ';'))
            buf_add_char(out, '\'');
        for (n = 0; i + n < len && !is_separator(text[i + n]);)
            n++;
        visible_text(out, text + i, n, n);
        if (i + n < len)
            buf_add_char(out, text[i + n++]);
    }
}

/* Appends the field after a comma, unless it is the line's first one. */
static void
add_field(struct csv *c, const char *text, size_t len)
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
csv_field(struct csv *c, const char *text, size_t len)
{
    struct buf safe;
    double number;

    if (!c->safe || number_parse(text, len, &number)) {
        add_field(c, text, len);
        return;
    }
    buf_init(&safe, c->out->max);
    add_safe(&safe, text, len);
    c->out->failed = c->out->failed || safe.failed;
    add_field(c, buf_text(&safe), safe.len);
    buf_fini(&safe);
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

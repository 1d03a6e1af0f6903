/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * The page is page/page.html with the style, the data and the scripts put in
 * place of its marks.  Data is text from outside: its JSON has no '<', which is
 * written \u003c, so that nothing ends the element that it lies in; scripts
 * show it by textContent alone.  Characters that would hide text or turn it
 * round are replaced where the data is put into the page, so that none of its
 * parts shows them. */
#include "report/report.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/visible.h"
#include "manager/results.h"
#include "report/page_parts.h"
#include "scan.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct page {
    const struct report *report;
    uint64_t refresh_s;
    struct buf *out;
};

static void
add_escaped(struct buf *out, const char *text)
{
    static const char *const escapes[] = {['&'] = "&amp;",
                                          ['<'] = "&lt;",
                                          ['>'] = "&gt;",
                                          ['"'] = "&quot;",
                                          ['\''] = "&#39;"};

    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;

        if (c < sizeof escapes / sizeof *escapes && escapes[c] != NULL)
            buf_add_text(out, escapes[c]);
        else
            buf_add_char(out, *text);
    }
}

static void
add_title(const struct page *p)
{
    const char *id = p->report->results->id;
    struct buf shown;

    buf_init(&shown, p->out->max);
    visible_text(&shown, id, strlen(id), SIZE_MAX);
    add_escaped(p->out, buf_text(&shown));
    buf_fini(&shown);
}

static void
add_style(const struct page *p)
{
    buf_add(p->out, page_style, page_style_len);
}

static void
add_script(const struct page *p)
{
    buf_add(p->out, page_script, page_script_len);
}

static void
add_refresh(const struct page *p)
{
    bool runs = p->report->results->state == RESULTS_RUNNING;

    buf_printf(p->out, "%" PRIu64, runs ? p->refresh_s : 0);
}

/* Reads "\uXXXX". */
static bool
read_escape(const char *at, size_t len, unsigned *code)
{
    char digits[5] = "";

    if (len < 6 || at[0] != '\\' || at[1] != 'u')
        return false;
    memcpy(digits, at + 2, 4);
    *code = (unsigned)strtoul(digits, NULL, 16);
    return true;
}

/* The code of the escape "\uXXXX" at `at`, of two of them for a character that
 * takes two; *n: their length; 0: it is none. */
static uint32_t
escaped_code(const char *at, size_t len, size_t *n)
{
    unsigned high, low;

    *n = 0;
    if (!read_escape(at, len, &high))
        return 0;
    *n = 6;
    if (high >> 10 != 0xd800 >> 10 || !read_escape(at + 6, len - 6, &low) ||
        low >> 10 != 0xdc00 >> 10)
        return high;
    *n = 12;
    return 0x10000 + ((high & 0x3ff) << 10 | (low & 0x3ff));
}

/* Appends the escape at `at` of a text in JSON, or '?' for a character that is
 * not to be shown; returns the escape's length. */
static size_t
add_escape(struct buf *out, const char *at, size_t len)
{
    size_t n;
    uint32_t c = escaped_code(at, len, &n);
    bool plain =
        n > 0 ? visible_is_plain(c) : len < 2 || (at[1] != 'b' && at[1] != 'f');

    if (n == 0)
        n = len < 2 ? len : 2;
    buf_add(out, plain ? at : "?", plain ? n : 1);
    return n;
}

/* Appends the first part of the JSON; returns its length. */
static size_t
add_json(struct buf *out, const char *at, size_t len)
{
    size_t n = 0;

    while (n < len && at[n] != '<' && at[n] != '\\' && (signed char)at[n] >= 0)
        n++;
    if (n > 0) {
        buf_add(out, at, n);
        return n;
    }
    if (at[0] == '\\')
        return add_escape(out, at, len);
    if (at[0] == '<') {
        buf_add_text(out, "\\u003c");
        return 1;
    }
    n = scan_utf8(at, len);
    n = n == 0 ? 1 : n;
    visible_text(out, at, n, n);
    return n;
}

static void
add_data(const struct page *p)
{
    struct buf json;

    buf_init(&json, p->out->max);
    report_write_json(p->report, &json);
    p->out->failed = p->out->failed || json.failed;
    for (size_t at = 0; !json.failed && at < json.len;)
        at += add_json(p->out, json.data + at, json.len - at);
    buf_fini(&json);
}

static const struct {
    const char *mark;
    void (*add)(const struct page *p);
} parts[] = {
    {"{{TITLE}}", add_title},     {"{{STYLE}}", add_style},
    {"{{REFRESH}}", add_refresh}, {"{{DATA}}", add_data},
    {"{{SCRIPT}}", add_script},
};

/* Writes what stands in the place of the mark at `at`; returns the mark's
 * length. */
static size_t
add_part(const struct page *p, const char *at, size_t len)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t mark = strlen(parts[i].mark);

        if (len >= mark && memcmp(at, parts[i].mark, mark) == 0) {
            parts[i].add(p);
            return mark;
        }
    }
    buf_add(p->out, at, 1);
    return 1;
}

int
report_write_page(const struct report *r, uint64_t refresh_s, struct buf *out,
                  struct err *err)
{
    const struct page p = {r, refresh_s, out};
    size_t at = 0;

    while (at < page_frame_len) {
        const char *from = (const char *)page_frame + at;
        const char *mark = memchr(from, '{', page_frame_len - at);
        size_t plain =
            mark == NULL ? page_frame_len - at : (size_t)(mark - from);

        buf_add(out, from, plain);
        at += plain;
        if (mark != NULL)
            at += add_part(&p, mark, page_frame_len - at);
    }
    return buf_check(out, "the report", err);
}

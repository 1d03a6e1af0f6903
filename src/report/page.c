/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * The page is page/page.html with the style, the data and the scripts put in
 * place of its marks.  Data is text from outside: its JSON is ASCII and has no
 * '<', which is written \u003c, so that nothing ends the element that it lies
 * in; scripts show it by textContent alone. */
#include "report/report.h"

#include "core/buf.h"
#include "core/err.h"
#include "manager/results.h"
#include "report/page_parts.h"

#include <inttypes.h>
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
    add_escaped(p->out, p->report->results->id);
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

static void
add_data(const struct page *p)
{
    struct buf json;
    const char *at, *end, *mark;

    buf_init(&json, p->out->max);
    report_write_json(p->report, &json);
    p->out->failed = p->out->failed || json.failed;
    at = json.data;
    end = at + json.len;
    while (!json.failed && at < end) {
        mark = memchr(at, '<', (size_t)(end - at));
        buf_add(p->out, at, (size_t)((mark != NULL ? mark : end) - at));
        if (mark == NULL)
            break;
        buf_add_text(p->out, "\\u003c");
        at = mark + 1;
    }
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

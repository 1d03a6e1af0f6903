/* SPDX-License-Identifier: MIT */
#include "manager/results_line.h"

#include "core/buf.h"
#include "json.h"
#include "manager/parameters.h"
#include "manager/results.h"
#include "scan.h"
#include "trial/files.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NOWHERE SIZE_MAX

enum kind { TEXT, JSON, NUMBER, COUNT };

/* In the order in which they are written. */
static const struct member {
    const char *name;
    enum kind kind;
    size_t offset, known; /* of the value, and of whether it is there */
} members[] = {
#define AT(member) offsetof(struct result, member)
    {"trial", TEXT, AT(trial), NOWHERE},
    {"parameter_id", JSON, AT(parameter_id), NOWHERE},
    {"seed", COUNT, AT(seed), NOWHERE},
    {"status", TEXT, AT(status), NOWHERE},
    {"value", NUMBER, AT(value), AT(has_value)},
    {"latest", NUMBER, AT(latest), AT(has_latest)},
    {"duration_s", NUMBER, AT(duration_s), NOWHERE},
    {"prepare_s", NUMBER, AT(prepare_s), AT(has_prepare)},
    {"why", TEXT, AT(why), NOWHERE},
    {"ended_by", TEXT, AT(ended_by), NOWHERE},
    {"from", TEXT, AT(from), NOWHERE},
    {"from_how", TEXT, AT(from_how), NOWHERE},
    {"steps", COUNT, AT(steps), NOWHERE},
    {"intermediates", COUNT, AT(intermediates), NOWHERE},
    {"parameters", JSON, AT(parameters), NOWHERE},
#undef AT
};
#define N_MEMBERS (sizeof members / sizeof *members)

struct reading {
    struct scan scan;
    struct result *out;
    size_t next; /* the member that is looked for first */
};

static void *
place(const struct reading *r, size_t offset)
{
    return (char *)r->out + offset;
}

static const struct member *
find(struct reading *r, const struct scan_token *name)
{
    for (size_t i = 0; i < N_MEMBERS; i++) {
        size_t k = (r->next + i) % N_MEMBERS;

        if (strlen(members[k].name) == name->len &&
            memcmp(members[k].name, name->text, name->len) == 0) {
            r->next = k + 1;
            return &members[k];
        }
    }
    return NULL;
}

/* Takes `text`; of a member that stands twice the last one counts. */
static bool
set(const struct reading *r, const struct member *m, char *text)
{
    char **to = place(r, m->offset);

    free(*to);
    *to = text;
    return text != NULL;
}

static bool
set_text(const struct reading *r, const struct member *m,
         const struct scan_token *t)
{
    struct buf text;
    bool ok;

    if (!t->escaped)
        return set(r, m, strndup(t->text, t->len));
    buf_init(&text, 2 * t->len + 1);
    scan_unescape(t, &text);
    ok = set(r, m, strdup(buf_text(&text)));
    buf_fini(&text);
    return ok;
}

static bool
read_value(struct reading *r, const struct member *m)
{
    struct scan_token t = scan_next(&r->scan);
    const char *begin = r->scan.text + t.at;

    if (m->kind == TEXT && t.type == SCAN_STRING)
        return set_text(r, m, &t);
    if (m->kind == NUMBER && t.type == SCAN_NUMBER) {
        bool known = scan_number(&t, place(r, m->offset));

        if (m->known != NOWHERE)
            *(bool *)place(r, m->known) = known;
        return true;
    }
    if (m->kind == COUNT && t.type == SCAN_NUMBER) {
        scan_uint(&t, place(r, m->offset));
        return true;
    }
    if (!scan_skip_from(&r->scan, t))
        return false;
    return m->kind != JSON ||
           set(r, m,
               strndup(begin, (size_t)(r->scan.text + r->scan.at - begin)));
}

static bool
read_members(struct reading *r)
{
    struct scan_token t = scan_next(&r->scan);

    while (t.type == SCAN_STRING) {
        const struct member *m = find(r, &t);

        if (scan_next(&r->scan).type != SCAN_COLON ||
            !(m != NULL ? read_value(r, m) : scan_skip(&r->scan)))
            return false;
        t = scan_next(&r->scan);
        if (t.type != SCAN_COMMA)
            break;
        t = scan_next(&r->scan);
        if (t.type != SCAN_STRING)
            return false;
    }
    return t.type == SCAN_CLOSE_OBJECT && scan_next(&r->scan).type == SCAN_END;
}

/* What is not there. */
static bool
fill(const struct reading *r)
{
    for (size_t i = 0; i < N_MEMBERS; i++) {
        const struct member *m = &members[i];

        if ((m->kind == TEXT || m->kind == JSON) &&
            *(char **)place(r, m->offset) == NULL &&
            !set(r, m, strdup(m->kind == JSON ? "null" : "")))
            return false;
    }
    return true;
}

static void
find_budget(struct result *out)
{
    struct json *doc;

    if (strstr(out->parameters, TRIAL_BUDGET_PARAMETER) == NULL)
        return;
    doc =
        json_parse(out->parameters, strlen(out->parameters), JSON_STRICT, NULL);
    if (doc != NULL)
        out->budget = parameters_budget(json_root(doc));
    json_free(doc);
}

int
results_line(const char *line, size_t len, struct result *out)
{
    struct reading r = {.scan = {.text = line, .len = len}, .out = out};

    *out = (struct result){0};
    if (scan_next(&r.scan).type != SCAN_OPEN_OBJECT || !read_members(&r) ||
        !fill(&r)) {
        result_fini(out);
        return -1;
    }
    if (out->steps == 0) /* it went on from none */
        out->steps = out->intermediates;
    find_budget(out);
    return 0;
}

/* SPDX-License-Identifier: MIT */
#include "rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
rules_fini(struct rules *r)
{
    for (size_t i = 0; i < r->n; i++)
        expression_fini(&r->list[i]);
    free(r->list);
    *r = (struct rules){0};
}

/* How many there can be at most; empty ones count here. */
static size_t
count(const char *text)
{
    size_t n = 1;

    for (; *text != '\0'; text++)
        n += *text == ';' || *text == '\n';
    return n;
}

/* Behind white space and ends without a constraint. */
static const char *
skip(const char *text)
{
    return text + strspn(text, " \t\r\n;");
}

int
rules_init(struct rules *r, const char *text, const struct tp_host *host,
           const struct tp_space *space, char why[RULES_WHY_MAX])
{
    char own[EXPRESSION_WHY_MAX];
    size_t most = count(text);
    int shown;

    *r = (struct rules){.host = host, .space = space};
    r->list = most > RULES_MAX ? NULL : calloc(most, sizeof *r->list);
    if (r->list == NULL) {
        snprintf(why, RULES_WHY_MAX,
                 most > RULES_MAX ? "%zu constraints, expected at most %d"
                                  : "out of memory",
                 most, RULES_MAX);
        return -1;
    }
    for (text = skip(text); *text != '\0'; text = skip(text)) {
        struct expression *e = &r->list[r->n++];
        const char *end = expression_parse(e, text, host, space, own);

        if (end != NULL) {
            text = end;
            continue;
        }
        shown = e->source == NULL ? 0 : (int)strlen(e->source);
        snprintf(why, RULES_WHY_MAX, "constraint %zu, `%.*s`: %s", r->n,
                 shown < 60 ? shown : 60, shown == 0 ? "" : e->source, own);
        return -1;
    }
    return 0;
}

const struct expression *
rules_broken(const struct rules *r, const double *x)
{
    for (size_t i = 0; i < r->n; i++)
        if (!expression_holds(&r->list[i], r->host, r->space, x))
            return &r->list[i];
    return NULL;
}

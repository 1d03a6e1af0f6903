/* SPDX-License-Identifier: MIT */
#include "pbt_replay/schedule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP_MAX 1000000000000000u

struct parser {
    const char *text, *at;
    struct schedule *s;
    char *name; /* where the next one goes */
    char *why;
};

static int
refuse(struct parser *p, const char *expected)
{
    snprintf(p->why, SCHEDULE_WHY_MAX,
             "schedule: column %zu: is '%.20s', expected %s",
             (size_t)(p->at - p->text) + 1, p->at, expected);
    return -1;
}

static void
skip_spaces(struct parser *p)
{
    p->at += strspn(p->at, " \t\n");
}

static int
parse_step(struct parser *p, uint64_t *out)
{
    size_t n;

    skip_spaces(p);
    n = strspn(p->at, "0123456789");
    *out = n > 0 && n < 19 ? strtoull(p->at, NULL, 10) : UINT64_MAX;
    if (*out > STEP_MAX || p->at[n] != ':')
        return refuse(p, "a number of results and a colon");
    if (p->s->n_segments == 0 && *out != 0)
        return refuse(p, "a first segment that begins at 0");
    if (p->s->n_segments > 0 &&
        *out < p->s->segments[p->s->n_segments - 1].from)
        return refuse(p, "a step that is not below the one before");
    p->at += n + 1;
    return 0;
}

static int
hex(char c)
{
    static const char digits[] = "0123456789ABCDEF";
    const char *at = c != '\0' ? strchr(digits, c) : NULL;

    return at != NULL ? (int)(at - digits) : -1;
}

static int
parse_name(struct parser *p, const char **out)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "abcdefghijklmnopqrstuvwxyz0123456789_./-";
    char *to = p->name;

    *out = to;
    for (;;) {
        if (*p->at == '%' && hex(p->at[1]) >= 0 && hex(p->at[2]) >= 0) {
            *to++ = (char)(hex(p->at[1]) << 4 | hex(p->at[2]));
            p->at += 3;
        } else if (*p->at != '\0' && strchr(plain, *p->at) != NULL) {
            *to++ = *p->at++;
        } else {
            break;
        }
    }
    *to = '\0';
    p->name = to + 1;
    if (*p->at != '=' || to == *out || to - *out >= SCHEDULE_NAME_MAX)
        return refuse(p, "a parameter's name and =");
    p->at++;
    return 0;
}

/* As JSON has numbers; nothing else that strtod() takes. */
static int
parse_value(struct parser *p, struct schedule_pair *pair)
{
    size_t len;
    char *end;

    pair->is_index = *p->at == '#';
    p->at += pair->is_index;
    len = strspn(p->at, pair->is_index ? "0123456789" : "+-.0123456789eE");
    pair->value = strtod(p->at, &end);
    if (len == 0 || end != p->at + len || !isfinite(pair->value))
        return refuse(p, pair->is_index ? "an index"
                                        : "a number, or # and "
                                          "an index");
    p->at = end;
    return 0;
}

static int
parse_segment(struct parser *p)
{
    struct schedule_segment *g = &p->s->segments[p->s->n_segments];

    if (parse_step(p, &g->from) != 0)
        return -1;
    g->first = p->s->n_pairs;
    if (p->s->n_segments > 0 && g->from > g[-1].from)
        g[-1].until = g->from;
    p->s->n_segments++;
    for (;;) {
        struct schedule_pair *pair = &p->s->pairs[p->s->n_pairs];

        skip_spaces(p);
        if (*p->at == '\0' || *p->at == ';')
            break;
        if (parse_name(p, &pair->name) != 0 || parse_value(p, pair) != 0)
            return -1;
        if (*p->at != '\0' && strchr(" \t\n;", *p->at) == NULL)
            return refuse(p, "a space, ; or the end");
        p->s->n_pairs++;
        g->n++;
    }
    return 0;
}

static size_t
count(const char *text, char what)
{
    size_t n = 0;

    for (; *text != '\0'; text++)
        n += *text == what;
    return n;
}

int
schedule_parse(struct schedule *s, const char *text, char why[SCHEDULE_WHY_MAX])
{
    struct parser p = {text, text, s, NULL, why};
    int rc = 0;

    *s = (struct schedule){
        .segments = calloc(count(text, ';') + 1, sizeof *s->segments),
        .pairs = calloc(count(text, '=') + 1, sizeof *s->pairs),
        .names = malloc(2 * strlen(text) + 2),
    };
    p.name = s->names;
    if (s->segments == NULL || s->pairs == NULL || s->names == NULL) {
        snprintf(why, SCHEDULE_WHY_MAX, "out of memory");
        rc = -1;
    }
    while (rc == 0) {
        rc = parse_segment(&p);
        if (*p.at == '\0')
            break;
        p.at += *p.at == ';';
    }
    if (rc != 0)
        schedule_free(s);
    return rc;
}

void
schedule_free(struct schedule *s)
{
    free(s->segments);
    free(s->pairs);
    free(s->names);
    *s = (struct schedule){0};
}

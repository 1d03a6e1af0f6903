/* SPDX-License-Identifier: MIT */
#include "names.h"

#include "tunepipe/shell.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define WORD_MAX 80       /* longer ones are not compared */
#define COMPARED_MAX 5000 /* nor more than so many */

#define NESTED_NAME "/_name" /* net/_name, as trials are shown: net */

size_t
constraints_find(const struct tp_space *space, const char *name, size_t len)
{
    size_t i = 0;

    for (; i < space->n_dims; i++) {
        const char *known = TP_DIM(space, i)->name;

        if (strncmp(known, name, len) == 0 && known[len] == '\0')
            break;
    }
    if (i == space->n_dims && len > strlen(NESTED_NAME)) {
        size_t above = len - strlen(NESTED_NAME);

        if (memcmp(name + above, NESTED_NAME, strlen(NESTED_NAME)) == 0)
            return constraints_find(space, name, above);
    }
    return i;
}

bool
names_has_below(const struct tp_space *space, const char *name, size_t len)
{
    for (size_t i = 0; i < space->n_dims; i++) {
        const char *known = TP_DIM(space, i)->name;

        if (strncmp(known, name, len) == 0 &&
            (known[len] == '/' || known[len] == '['))
            return true;
    }
    return false;
}

static struct tp_element
element_at(const struct tp_host *host, size_t dim, uint64_t i)
{
    struct tp_element v = {sizeof v, TP_ELEMENT_OTHER, 0, NULL};

    tp_element_of(host, dim, i, &v);
    return v;
}

bool
names_has_element(const struct tp_host *host, const struct tp_space *space,
                  size_t dim, const char *text)
{
    for (uint64_t i = 0; i < TP_DIM(space, dim)->n_choices; i++) {
        const char *known = element_at(host, dim, i).text;

        if (known != NULL && strcmp(known, text) == 0)
            return true;
    }
    return false;
}

/* ---- the nearest ---- */

struct search {
    const char *word, *best;
    size_t len, distance;
};

static size_t
least(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;

    return ab < c ? ab : c;
}

/* Insertions, deletions and replacements between the two. */
static size_t
distance(const char *a, size_t n, const char *b, size_t m)
{
    size_t row[WORD_MAX + 1], corner, above;

    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            above = row[j];
            row[j] = least(above + 1, row[j - 1] + 1,
                           corner + (a[i - 1] != b[j - 1]));
            corner = above;
        }
    }
    return row[m];
}

static void
compare(struct search *s, const char *known)
{
    size_t len = known != NULL ? strlen(known) : SIZE_MAX, d;

    if (len > WORD_MAX || s->len > WORD_MAX)
        return;
    d = distance(s->word, s->len, known, len);
    if (d < s->distance) {
        s->distance = d;
        s->best = known;
    }
}

static struct search
search_for(const char *word, size_t len)
{
    return (struct search){word, NULL, len, len / 3 + 2};
}

static void
write_hint(const struct search *s, char out[NAMES_HINT_MAX])
{
    out[0] = '\0';
    if (s->best != NULL)
        snprintf(out, NAMES_HINT_MAX, " (did you mean '%s'?)", s->best);
}

void
constraints_hint(const struct tp_space *space, const char *name, size_t len,
                 char out[NAMES_HINT_MAX])
{
    struct search s = search_for(name, len);

    for (size_t i = 0; i < space->n_dims && i < COMPARED_MAX; i++)
        compare(&s, TP_DIM(space, i)->name);
    write_hint(&s, out);
}

void
names_hint_element(const struct tp_host *host, const struct tp_space *space,
                   size_t dim, const char *text, char out[NAMES_HINT_MAX])
{
    struct search s = search_for(text, strlen(text));
    uint64_t n = TP_DIM(space, dim)->n_choices;

    for (uint64_t i = 0; i < n && i < COMPARED_MAX; i++)
        compare(&s, element_at(host, dim, i).text);
    write_hint(&s, out);
}

/* SPDX-License-Identifier: MIT */
#include "space/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* DESIGN: a name is the path of keys, "net/units".  Two elements of a choice
 * may each have sub-parameters of the same key; only these carry the number
 * of their element, "net[0]/units" and "net[2]/units".  To find them, all
 * sub-parameters are sorted by parent and key, which is quick for whatever
 * search space comes from outside. */

struct sub {
    size_t parent, i;
    const char *key;
};

static int
by_parent_and_key(const void *va, const void *vb)
{
    const struct sub *a = va, *b = vb;

    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    return strcmp(a->key, b->key);
}

static bool
is_twin(const struct sub *a, const struct sub *b)
{
    return a->parent == b->parent && strcmp(a->key, b->key) == 0;
}

/* numbered[i]: dimension i shares parent and key with another. */
static bool
find_twins(const struct space *s, bool *numbered)
{
    struct sub *subs = calloc(s->n + 1, sizeof *subs);
    size_t n = 0;

    if (subs == NULL)
        return false;
    for (size_t i = 0; i < s->n; i++)
        if (s->tp[i].parent != TP_NO_PARENT)
            subs[n++] = (struct sub){s->tp[i].parent, i, s->dim[i].key};
    if (n > 1)
        qsort(subs, n, sizeof *subs, by_parent_and_key);
    for (size_t k = 1; k < n; k++)
        if (is_twin(&subs[k - 1], &subs[k]))
            numbered[subs[k - 1].i] = numbered[subs[k].i] = true;
    free(subs);
    return true;
}

/* Appends what already stands in the buffer. */
static void
repeat(struct buf *b, struct text t)
{
    char *to = buf_reserve(b, t.len);

    if (to == NULL)
        return;
    memcpy(to, b->data + t.at, t.len);
    b->len += t.len;
}

static void
put_name(struct space *s, size_t i, bool numbered)
{
    const struct tp_dim *d = &s->tp[i];
    struct text *name = &s->dim[i].name;

    name->at = s->texts.len;
    if (d->parent != TP_NO_PARENT) {
        repeat(&s->texts, s->dim[d->parent].name);
        if (numbered)
            buf_printf(&s->texts, "[%llu]",
                       (unsigned long long)d->parent_choice);
        buf_add_char(&s->texts, '/');
    }
    buf_add_text(&s->texts, s->dim[i].key);
    name->len = s->texts.len - name->at;
    buf_add_char(&s->texts, '\0');
}

bool
parse_names(struct space *s)
{
    bool *numbered = calloc(s->n + 1, sizeof *numbered);

    if (numbered == NULL)
        return false;
    if (!find_twins(s, numbered)) {
        free(numbered);
        return false;
    }
    for (size_t i = 0; i < s->n && !s->texts.failed; i++)
        put_name(s, i, numbered[i]);
    free(numbered);
    for (size_t i = 0; i < s->n && !s->texts.failed; i++)
        s->tp[i].name = s->texts.data + s->dim[i].name.at;
    return !s->texts.failed;
}

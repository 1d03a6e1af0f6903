/* SPDX-License-Identifier: MIT */
#include "config/labels.h"

#include "core/buf.h"
#include "core/grow.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int
labels_add(struct labels *l, int device, const char *text)
{
    if (grow_to(&l->of, l->n + 1, sizeof *l->of) != 0)
        return -1;
    l->of[l->n] = (struct label){device, strdup(text)};
    if (l->of[l->n].text == NULL)
        return -1;
    l->n++;
    return 0;
}

void
labels_fini(struct labels *l)
{
    for (size_t i = 0; i < l->n_globs; i++)
        free(l->globs[i]);
    for (size_t i = 0; i < l->n; i++)
        free(l->of[i].text);
    free(l->of);
    *l = (struct labels){.n = 0};
}

static bool
matches(const char *glob, const char *name)
{
    return name != NULL && fnmatch(glob, name, 0) == 0;
}

const char *
labels_lack(const struct labels *l, int device, const struct label_names *names)
{
    for (size_t i = 0; i < l->n_globs; i++) {
        const char *glob = l->globs[i];
        bool found =
            matches(glob, names->machine) || matches(glob, names->device);

        for (size_t k = 0; k < l->n && !found; k++)
            if (l->of[k].device == device || l->of[k].device == LABELS_MACHINE)
                found = matches(glob, l->of[k].text);
        if (!found)
            return glob;
    }
    return NULL;
}

void
labels_list(const struct labels *l, int device, const char *name,
            struct buf *out)
{
    const char *between = "";

    for (size_t i = 0; i < l->n; i++)
        if (l->of[i].device == device) {
            buf_printf(out, "%s'%s'", between, l->of[i].text);
            between = ", ";
        }
    if (name != NULL && name[0] != '\0')
        buf_printf(out, "%s'%s'", between, name);
}

/* SPDX-License-Identifier: MIT */
#include "store/columns.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/grow.h"
#include "core/map.h"
#include "history/folder.h"
#include "json.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SPACE_MAX ((size_t)64 << 20)

int
columns_add(struct columns *c, const char *name, struct err *err)
{
    if (GROW(c->names, c->n, c->cap) != 0)
        return err_set(err, ERR_MEMORY, "out of memory");
    c->names[c->n] = strdup(name);
    if (c->names[c->n] == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    c->n++;
    return 0;
}

void
columns_fini(struct columns *c)
{
    for (size_t i = 0; i < c->n; i++)
        free(c->names[i]);
    free(c->names);
    *c = (struct columns){0};
}

struct placed {
    char *name;
    uintptr_t place; /* where the search space has its first part, from 1 */
};

static int
compare(const void *va, const void *vb)
{
    const struct placed *a = va, *b = vb;

    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* The place of a parameter in the search space.  A name may itself hold a '/':
 * the shortest part that the space has counts. */
static uintptr_t
place_of(const struct map *places, const char *name)
{
    const char *end = name;
    void *place;

    while (*end != '\0') {
        end += strcspn(end + 1, "/") + 1;
        place = map_get(places, name, (size_t)(end - name));
        if (place != NULL)
            return (uintptr_t)place;
    }
    return UINTPTR_MAX;
}

static int
read_places(struct map *places, const char *folder, struct err *err)
{
    char *path = file_join(folder, FOLDER_SPACE);
    struct json *doc = NULL;
    struct jval_iter it;
    struct buf text;
    uintptr_t i = 0;
    int rc = 0;

    buf_init(&text, 2 * SPACE_MAX);
    if (path != NULL && file_read(path, SPACE_MAX, &text, NULL) == 0)
        doc = json_parse(buf_text(&text), text.len, JSON_NAN, NULL);
    if (doc != NULL && jval_type(json_root(doc)) == JSON_OBJECT) {
        it = jval_iter(json_root(doc));
        while (rc == 0 && jval_next(&it))
            rc = map_put(places, it.key, strlen(it.key), (void *)++i);
    }
    json_free(doc);
    buf_fini(&text);
    free(path);
    return rc == 0 ? 0 : err_set(err, ERR_MEMORY, "out of memory");
}

int
columns_sort(struct columns *c, const char *folder, struct err *err)
{
    struct placed *placed = calloc(c->n + 1, sizeof *placed);
    struct map places = {0};
    int rc = placed == NULL ? err_set(err, ERR_MEMORY, "out of memory")
                            : read_places(&places, folder, err);

    if (rc == 0) {
        for (size_t i = 0; i < c->n; i++)
            placed[i] =
                (struct placed){c->names[i], place_of(&places, c->names[i])};
        qsort(placed, c->n, sizeof *placed, compare);
        for (size_t i = 0; i < c->n; i++)
            c->names[i] = placed[i].name;
    }
    map_fini(&places);
    free(placed);
    return rc;
}

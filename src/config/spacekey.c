/* SPDX-License-Identifier: MIT */
#include "config/spacekey.h"

#include "config/draft.h"
#include "config/reader.h"
#include "config/yaml.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "json.h"

#include <stdio.h>

/* NNI's rule: a search space file is JSON, or else YAML. */
static char *
space_from_text(struct reader *r, const char *path, struct buf *text)
{
    struct json *doc =
        json_parse(text->data, text->len, JSON_COMMENTS | JSON_UNIQUE, NULL);
    struct reader inner = {path, r->folder, r->dispatches, r->problems,
                           r->notes};
    struct yaml_node *root;
    char *space = NULL;
    struct buf out;

    if (doc != NULL && jval_type(json_root(doc)) == JSON_OBJECT) {
        buf_init(&out, 8 * YAML_TEXT_MAX);
        jval_write(json_root(doc), &out);
        space = buf_take(&out);
        buf_fini(&out);
    } else {
        root = yaml_parse(text->data, text->len, path, r->problems);
        if (root != NULL)
            set_json_map(&inner, NULL, root, "search space", &space);
        yaml_free(root);
    }
    json_free(doc);
    return space;
}

static void
read_space_file(struct reader *r, struct draft *d)
{
    struct err err = {0};
    struct buf text;

    buf_init(&text, 2 * YAML_TEXT_MAX);
    if (file_read(d->space_file, YAML_TEXT_MAX, &text, &err) != 0)
        reader_problem(r, d->space_file_line, "searchSpaceFile", "%s",
                       err.text);
    else if (text.len == 0)
        reader_problem(r, d->space_file_line, "searchSpaceFile",
                       "%s is empty; an empty space is {}", d->space_file);
    else
        d->x.search_space = space_from_text(r, d->space_file, &text);
    buf_fini(&text);
}

static void
name_space_place(struct reader *r, struct draft *d)
{
    char *place = NULL;
    int rc = d->space_file != NULL ? asprintf(&place, "%s", d->space_file)
                                   : asprintf(&place, "%s:%u: searchSpace",
                                              r->file, d->space_line);

    d->x.space_place = rc < 0 ? NULL : place;
    if (rc < 0)
        reader_problem(r, d->space_line, "searchSpace", "out of memory");
}

void
spacekey_check(struct reader *r, struct draft *d, const struct yaml_node *root)
{
    if (d->space_line > 0 && d->space_file_line > 0)
        reader_problem(r, d->space_file_line, "searchSpaceFile",
                       "excludes searchSpace (line %u): give one of them",
                       d->space_line);
    else if (d->space_file != NULL)
        read_space_file(r, d);
    else if (d->space_line == 0 && d->space_file_line == 0)
        reader_problem(r, root->line, "searchSpace",
                       "is required, or searchSpaceFile; an empty one is {}");
    name_space_place(r, d);
}

/* SPDX-License-Identifier: MIT */
/* DESIGN.  libyaml's events are turned into nodes by one loop with a stack of
 * the open collections.  The depth is checked before a collection is pushed:
 * libyaml needs quadratic time for deep nesting, so going on after the limit
 * would cost seconds. */
#include "config/yaml.h"

#include "core/map.h"
#include "core/problems.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define PLACE_MAX 512
#define TAG_TEXT "tag:yaml.org,2002:str"

struct builder {
    const char *file;
    struct problems *problems;
    struct yaml_node *root;
    struct {
        struct yaml_node *node;
        struct yaml_node **tail;
        struct map lines; /* of a map's keys; a list is too slow for many */
    } open[YAML_DEPTH_MAX];
    size_t depth;
    char *key; /* of the value that comes next; NULL: a key comes next */
    unsigned key_line;
    unsigned documents;
};

void
yaml_free(struct yaml_node *node)
{
    while (node != NULL) {
        struct yaml_node *next = node->next;

        yaml_free(node->children);
        free(node->key);
        free(node->text);
        free(node);
        node = next;
    }
}

const struct yaml_node *
yaml_get(const struct yaml_node *map, const char *key)
{
    if (map == NULL || map->kind != YAML_MAP)
        return NULL;
    for (const struct yaml_node *n = map->children; n != NULL; n = n->next)
        if (strcmp(n->key, key) == 0)
            return n;
    return NULL;
}

/* Where the list points to `node`; NULL: to its end. */
static struct yaml_node **
link_to(struct yaml_node *map, const struct yaml_node *node)
{
    struct yaml_node **at = &map->children;

    while (*at != NULL && *at != node)
        at = &(*at)->next;
    return at;
}

struct yaml_node *
yaml_take(struct yaml_node *map, struct yaml_node *node)
{
    *link_to(map, node) = node->next;
    node->next = NULL;
    map->count--;
    return node;
}

int
yaml_put(struct yaml_node *map, struct yaml_node *next, const char *key,
         struct yaml_node *node)
{
    struct yaml_node **at = link_to(map, next);
    char *copy = strdup(key);

    if (copy == NULL) {
        yaml_free(node);
        return -1;
    }
    free(node->key);
    node->key = copy;
    node->next = *at;
    *at = node;
    map->count++;
    return 0;
}

struct yaml_node *
yaml_new_map(unsigned line)
{
    struct yaml_node *node = calloc(1, sizeof *node);

    if (node != NULL) {
        node->kind = YAML_MAP;
        node->line = node->key_line = line;
        node->column = 1;
    }
    return node;
}

static int
refuse(struct builder *b, size_t line, const char *what)
{
    char place[PLACE_MAX];

    snprintf(place, sizeof place, "%s:%zu", b->file, line);
    problems_add(b->problems, place, "%s", what);
    return -1;
}

/* A scalar in the place of a map's key. */
static int
take_key(struct builder *b, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t line = event->start_mark.line + 1;
    size_t len = event->data.scalar.length;
    struct map *lines = &b->open[b->depth - 1].lines;
    const void *twin;
    char what[256];

    if (memchr(text, '\0', len) != NULL)
        return refuse(b, line, "a key must not hold a NUL byte");
    twin = map_get(lines, text, len);
    if (twin != NULL) {
        snprintf(what, sizeof what,
                 "key '%.100s' stands twice, first in line %zu", text,
                 (size_t)(uintptr_t)twin);
        refuse(b, line, what); /* and go on: there may be more */
    } else if (map_put(lines, text, len, (void *)(uintptr_t)line) != 0) {
        return refuse(b, line, "out of memory");
    }
    b->key = strdup(text);
    b->key_line = (unsigned)line;
    return b->key == NULL ? refuse(b, line, "out of memory") : 0;
}

static bool
wants_key(const struct builder *b)
{
    return b->depth > 0 && b->open[b->depth - 1].node->kind == YAML_MAP &&
           b->key == NULL;
}

static struct yaml_node *
add_node(struct builder *b, enum yaml_kind kind, const yaml_event_t *event)
{
    struct yaml_node *node = calloc(1, sizeof *node);

    if (node == NULL) {
        refuse(b, event->start_mark.line + 1, "out of memory");
        return NULL;
    }
    node->kind = kind;
    node->line = (unsigned)event->start_mark.line + 1;
    node->column = (unsigned)event->start_mark.column + 1;
    node->key = b->key;
    node->key_line = b->key != NULL ? b->key_line : 0;
    b->key = NULL;
    if (b->depth == 0) {
        b->root = node;
        return node;
    }
    *b->open[b->depth - 1].tail = node;
    b->open[b->depth - 1].tail = &node->next;
    b->open[b->depth - 1].node->count++;
    return node;
}

static int
add_scalar(struct builder *b, const yaml_event_t *event)
{
    const char *tag = (const char *)event->data.scalar.tag;
    struct yaml_node *node;

    if (tag != NULL && strcmp(tag, TAG_TEXT) != 0 && strcmp(tag, "!") != 0)
        return refuse(b, event->start_mark.line + 1,
                      "tags are not supported, but for !!str");
    if (wants_key(b))
        return take_key(b, event);
    node = add_node(b, YAML_SCALAR, event);
    if (node == NULL)
        return -1;
    node->plain = tag == NULL && event->data.scalar.plain_implicit &&
                  event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    node->len = event->data.scalar.length;
    node->text = malloc(node->len + 1);
    if (node->text == NULL)
        return refuse(b, node->line, "out of memory");
    memcpy(node->text, event->data.scalar.value, node->len);
    node->text[node->len] = '\0';
    return 0;
}

static int
open_collection(struct builder *b, enum yaml_kind kind,
                const yaml_event_t *event, const yaml_char_t *tag)
{
    size_t line = event->start_mark.line + 1;
    struct yaml_node *node;

    if (tag != NULL)
        return refuse(b, line, "tags are not supported, but for !!str");
    if (wants_key(b))
        return refuse(b, line, "a key must be a plain text");
    if (b->depth == YAML_DEPTH_MAX)
        return refuse(b, line, "nested more than 64 levels deep");
    node = add_node(b, kind, event);
    if (node == NULL)
        return -1;
    b->open[b->depth].node = node;
    b->open[b->depth].tail = &node->children;
    b->open[b->depth].lines = (struct map){0};
    b->depth++;
    return 0;
}

static int
take_event(struct builder *b, const yaml_event_t *event)
{
    size_t line = event->start_mark.line + 1;

    switch (event->type) {
    case YAML_SCALAR_EVENT:
        if (event->data.scalar.anchor != NULL)
            return refuse(b, line, "anchors (&name) are not supported");
        return add_scalar(b, event);
    case YAML_SEQUENCE_START_EVENT:
        if (event->data.sequence_start.anchor != NULL)
            return refuse(b, line, "anchors (&name) are not supported");
        return open_collection(b, YAML_SEQUENCE, event,
                               event->data.sequence_start.tag);
    case YAML_MAPPING_START_EVENT:
        if (event->data.mapping_start.anchor != NULL)
            return refuse(b, line, "anchors (&name) are not supported");
        return open_collection(b, YAML_MAP, event,
                               event->data.mapping_start.tag);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        map_fini(&b->open[--b->depth].lines);
        return 0;
    case YAML_ALIAS_EVENT:
        return refuse(b, line, "aliases (*name) are not supported");
    case YAML_DOCUMENT_START_EVENT:
        if (b->documents++ > 0)
            return refuse(b, line, "a second document; expected only one");
        return 0;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        return 0;
    }
    return 0;
}

static int
refuse_syntax(struct builder *b, const yaml_parser_t *parser)
{
    char what[256];

    if (parser->error == YAML_MEMORY_ERROR)
        return refuse(b, parser->mark.line + 1, "out of memory");
    snprintf(what, sizeof what, "not valid YAML: %s%s%s (column %zu)",
             parser->problem != NULL ? parser->problem : "unreadable",
             parser->context != NULL ? ", " : "",
             parser->context != NULL ? parser->context : "",
             parser->problem_mark.column + 1);
    return refuse(b, parser->problem_mark.line + 1, what);
}

static int
build(struct builder *b, yaml_parser_t *parser)
{
    bool ended = false;

    while (!ended) {
        yaml_event_t event;
        int rc;

        if (!yaml_parser_parse(parser, &event))
            return refuse_syntax(b, parser);
        ended = event.type == YAML_STREAM_END_EVENT;
        rc = take_event(b, &event);
        yaml_event_delete(&event);
        if (rc != 0)
            return -1;
    }
    if (b->root == NULL)
        return refuse(b, 1, "the document is empty");
    return 0;
}

struct yaml_node *
yaml_parse(const char *text, size_t len, const char *file,
           struct problems *problems)
{
    struct builder b = {.file = file, .problems = problems};
    size_t before = problems->count;
    yaml_parser_t parser;

    if (len > YAML_TEXT_MAX) {
        refuse(&b, 1, "longer than 1 MiB");
        return NULL;
    }
    if (!yaml_parser_initialize(&parser)) {
        refuse(&b, 1, "out of memory");
        return NULL;
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
    build(&b, &parser);
    yaml_parser_delete(&parser);
    while (b.depth > 0)
        map_fini(&b.open[--b.depth].lines);
    free(b.key);
    if (problems->count == before)
        return b.root;
    yaml_free(b.root);
    return NULL;
}

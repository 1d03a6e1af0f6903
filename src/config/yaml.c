/* SPDX-License-Identifier: MIT */
/* DESIGN.  libyaml's events are turned into nodes by one loop with a stack of
 * the open collections.  The depth is checked before a collection is pushed:
 * libyaml needs quadratic time for deep nesting, so going on after the limit
 * would cost seconds. */
#include "config/yaml.h"

#include "core/buf.h"
#include "core/map.h"
#include "core/number.h"
#include "core/problems.h"
#include "json.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

#define PLACE_MAX 512
#define TAG_TEXT "tag:yaml.org,2002:str"

struct builder {
    const char *text, *file;
    size_t len; /* of the text */
    struct problems *problems;
    struct yaml_node *root;
    struct {
        struct yaml_node *node;
        struct yaml_node **tail;
        struct map lines; /* of a map's keys; a list is too slow for many */
    } open[YAML_DEPTH_MAX];
    size_t depth;
    char *key; /* of the next value; NULL: a key comes next */
    unsigned key_line;
    unsigned documents;
};

void
yaml_node_free(struct yaml_node *node)
{
    while (node != NULL) {
        struct yaml_node *next = node->next;

        yaml_node_free(node->children);
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

/* The link that points to `node`; where it is NULL, the list's last one. */
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
        yaml_node_free(node);
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
yaml_new_text(unsigned line, const char *text, size_t len)
{
    struct yaml_node *node = yaml_new_map(line);

    if (node == NULL)
        return NULL;
    node->kind = YAML_SCALAR;
    node->text = strndup(text, len);
    node->len = len;
    if (node->text != NULL)
        return node;
    yaml_node_free(node);
    return NULL;
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

/* Takes a scalar where a map has a key. */
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

/* What is perhaps wrong with a line that libyaml cannot read. */
static const char *
guess(const struct builder *b, const yaml_parser_t *parser)
{
    const char *at = b->text, *end = b->text + b->len;
    const char *problem = parser->problem;

    for (size_t n = parser->problem_mark.line; n > 0 && at < end; at++)
        n -= *at == '\n';
    while (at < end && *at == ' ')
        at++;
    if (at < end && *at == '\t')
        return "; there is a tab: indent with spaces";
    if (problem != NULL && (strstr(problem, "expected key") != NULL ||
                            strstr(problem, "expected '-'") != NULL ||
                            strstr(problem, "mapping values") != NULL))
        return "; is the line indented otherwise than those around it, or a "
               "text without quotes that needs them?";
    if (problem != NULL && strstr(problem, "expected ','") != NULL)
        return "; is a brace or a bracket above not closed?";
    return "";
}

static int
refuse_syntax(struct builder *b, const yaml_parser_t *parser)
{
    char what[400];

    if (parser->error == YAML_MEMORY_ERROR)
        return refuse(b, parser->mark.line + 1, "out of memory");
    snprintf(what, sizeof what, "not valid YAML: %s%s%s (column %zu)%s",
             parser->problem != NULL ? parser->problem : "unreadable",
             parser->context != NULL ? ", " : "",
             parser->context != NULL ? parser->context : "",
             parser->problem_mark.column + 1, guess(b, parser));
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
    struct builder b = {
        .text = text, .file = file, .len = len, .problems = problems};
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
    yaml_node_free(b.root);
    return NULL;
}

/* ---- a node's value ---- */

/* Scalars get their types here: YAML 1.2.2, section 10.3 (core schema). */

#define PATH_TEXT_MAX 256

static bool
is_one_of(const char *text, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strcmp(text, *words) == 0)
            return true;
    return false;
}

static bool
is_null(const char *text)
{
    static const char *const words[] = {"", "~", "null", "Null", "NULL", NULL};

    return is_one_of(text, words);
}

static bool
is_bool(const char *text)
{
    static const char *const words[] = {"true",  "True",  "TRUE", "false",
                                        "False", "FALSE", NULL};

    return is_one_of(text, words);
}

/* Digits of base 8, 10 or 16 as the core schema writes them. */
static bool
is_int(const char *text)
{
    if (text[0] == '0' && (text[1] == 'o' || text[1] == 'x'))
        return text[2] != '\0' &&
               text[2 + strspn(text + 2, text[1] == 'o'
                                             ? "01234567"
                                             : "0123456789abcdefABCDEF")] ==
                   '\0';
    if (*text == '-' || *text == '+')
        text++;
    return *text != '\0' && text[strspn(text, "0123456789")] == '\0';
}

/* Whether the text is a number that JSON does not have: .inf, -.Inf, .NAN,
 * ... */
static bool
is_beyond_json(const char *text)
{
    static const char *const words[] = {".inf", ".Inf", ".INF", ".nan",
                                        ".NaN", ".NAN", NULL};

    return is_one_of(text + (*text == '-' || *text == '+'), words);
}

static bool
is_float(const char *text, size_t len)
{
    double ignored;

    return number_parse(text, len, &ignored) || is_beyond_json(text);
}

enum yaml_type
yaml_type(const struct yaml_node *node)
{
    if (node->kind == YAML_MAP)
        return YAML_TYPE_MAP;
    if (node->kind == YAML_SEQUENCE)
        return YAML_TYPE_SEQUENCE;
    if (!node->plain || strlen(node->text) != node->len)
        return YAML_TYPE_TEXT;
    if (is_null(node->text))
        return YAML_TYPE_NULL;
    if (is_bool(node->text))
        return YAML_TYPE_BOOL;
    if (is_int(node->text))
        return YAML_TYPE_INT;
    if (is_float(node->text, node->len))
        return YAML_TYPE_FLOAT;
    return YAML_TYPE_TEXT;
}

const char *
yaml_type_name(const struct yaml_node *node)
{
    static const char *const names[] = {
        [YAML_TYPE_NULL] = "null",      [YAML_TYPE_BOOL] = "a bool",
        [YAML_TYPE_INT] = "an integer", [YAML_TYPE_FLOAT] = "a number",
        [YAML_TYPE_TEXT] = "a text",    [YAML_TYPE_SEQUENCE] = "a list",
        [YAML_TYPE_MAP] = "a map",
    };

    return names[yaml_type(node)];
}

bool
yaml_bool(const struct yaml_node *node, bool *out)
{
    static const struct {
        const char *word;
        bool value;
    } words[] = {{"true", true}, {"false", false}, {"yes", true},
                 {"no", false},  {"on", true},     {"off", false}};

    if (node->kind != YAML_SCALAR || !node->plain)
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(node->text, words[i].word) == 0) {
            *out = words[i].value;
            return true;
        }
    return false;
}

/* Reads the magnitude of an integer; false when it does not fit. */
static bool
int_magnitude(const char *text, bool *negative, uint64_t *out)
{
    static const char digits[] = "0123456789abcdef";
    unsigned base = 10;
    uint64_t v = 0;

    *negative = *text == '-';
    if (*text == '-' || *text == '+')
        text++;
    if (text[0] == '0' && (text[1] == 'o' || text[1] == 'x')) {
        base = text[1] == 'o' ? 8 : 16;
        text += 2;
    }
    for (; *text != '\0'; text++) {
        const char *found = strchr(digits, tolower((unsigned char)*text));
        unsigned digit = (unsigned)(found - digits);

        if (v > (UINT64_MAX - digit) / base)
            return false;
        v = v * base + digit;
    }
    *out = v;
    return true;
}

bool
yaml_uint(const struct yaml_node *node, uint64_t *out)
{
    bool negative;

    return yaml_type(node) == YAML_TYPE_INT &&
           int_magnitude(node->text, &negative, out) &&
           (!negative || *out == 0);
}

static void
write_int(const struct yaml_node *node, struct buf *out)
{
    uint64_t magnitude;
    bool negative;
    double value;

    if (int_magnitude(node->text, &negative, &magnitude) &&
        (!negative || magnitude <= (uint64_t)INT64_MAX + 1)) {
        buf_printf(out, "%s%llu", negative && magnitude > 0 ? "-" : "",
                   (unsigned long long)magnitude);
        return;
    }
    value = strtod(node->text, NULL); /* strtod() reads 0x, too */
    if (node->text[1] == 'o') /* digits of base 8: exact but for rounding */
        for (const char *p = node->text + 2; *p != '\0'; p++)
            value = value * 8 + (*p - '0');
    json_write_double(out, value);
}

struct writer {
    const char *file;
    struct buf *out;
    struct problems *problems;
    int rc;
};

static void
refuse_value(struct writer *w, const struct yaml_node *node, const char *path,
             const char *expected)
{
    char place[512 + PATH_TEXT_MAX];

    snprintf(place, sizeof place, "%s:%u: %s", w->file, node->line, path);
    problems_add(w->problems, place, "expected %s, got '%.100s'", expected,
                 node->text);
    w->rc = -1;
}

static void
write_scalar(struct writer *w, const struct yaml_node *node, const char *path)
{
    double value;

    switch (yaml_type(node)) {
    case YAML_TYPE_NULL:
        buf_add_text(w->out, "null");
        break;
    case YAML_TYPE_BOOL:
        buf_add_text(w->out, tolower((unsigned char)node->text[0]) == 't'
                                 ? "true"
                                 : "false");
        break;
    case YAML_TYPE_INT:
        write_int(node, w->out);
        break;
    case YAML_TYPE_FLOAT:
        if (number_parse(node->text, node->len, &value))
            json_write_double(w->out, value);
        else
            refuse_value(w, node, path, "a finite number");
        break;
    case YAML_TYPE_TEXT:
        json_write_string(w->out, node->text, node->len);
        break;
    case YAML_TYPE_SEQUENCE:
    case YAML_TYPE_MAP:
        break;
    }
}

/* Writes a node; it is no deeper than YAML_DEPTH_MAX, as the parser has
 * checked. */
static void
write_node(struct writer *w, const struct yaml_node *node, const char *path)
{
    struct json_writer json = json_begin(w->out);
    char below[PATH_TEXT_MAX];
    size_t i = 0;

    if (node->kind == YAML_SCALAR) {
        write_scalar(w, node, path);
        return;
    }
    if (node->kind == YAML_MAP)
        json_open_object(&json, NULL);
    else
        json_open_array(&json, NULL);
    for (const struct yaml_node *c = node->children; c != NULL; c = c->next) {
        if (c->key != NULL)
            snprintf(below, sizeof below, "%s.%s", path, c->key);
        else
            snprintf(below, sizeof below, "%s[%zu]", path, i);
        json_value(&json, c->key);
        write_node(w, c, below);
        i++;
    }
    json_close(&json);
}

int
yaml_write_json(const struct yaml_node *node, const char *file,
                const char *path, struct buf *out, struct problems *problems)
{
    struct writer w = {file, out, problems, 0};

    write_node(&w, node, path);
    return w.rc;
}

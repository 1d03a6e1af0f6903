/* SPDX-License-Identifier: MIT */
/* yaml.h - a YAML text as a tree with a line for every node, which only
 * config/v1.c and config/overrides.c change; the only header behind which
 * libyaml lies.
 *
 * One document, at most YAML_TEXT_MAX bytes and YAML_DEPTH_MAX levels; no
 * anchors, no aliases, no tags but !!str, no key twice in one map.  Plain
 * scalars get their type by the core schema of YAML 1.2 where they are read:
 * 1e-3 is a number; no, on, yes, off are texts.  One owner, one thread. */
#ifndef CONFIG_YAML_H
#define CONFIG_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct problems;

#define YAML_TEXT_MAX ((size_t)1 << 20)
#define YAML_DEPTH_MAX 64

enum yaml_kind { YAML_SCALAR, YAML_SEQUENCE, YAML_MAP };

struct yaml_node {
    enum yaml_kind kind;
    unsigned line, column; /* from 1 */
    unsigned key_line;     /* 0: no member of a map */
    char *key;             /* members of a map; holds no NUL */
    char *text;            /* scalars; NUL-terminated behind `len` bytes */
    size_t len;
    bool plain; /* a scalar without quotes or tag: its type is open */
    struct yaml_node *children, *next;
    size_t count; /* of children */
};

enum yaml_type {
    YAML_TYPE_NULL,
    YAML_TYPE_BOOL,
    YAML_TYPE_INT,
    YAML_TYPE_FLOAT,
    YAML_TYPE_TEXT,
    YAML_TYPE_SEQUENCE,
    YAML_TYPE_MAP,
};

/* Parses the whole text.  Each problem is added as "FILE:LINE: what"; NULL
 * when there was one.  The result is freed with yaml_node_free(). */
struct yaml_node *yaml_parse(const char *text, size_t len, const char *file,
                             struct problems *problems);
void yaml_node_free(struct yaml_node *root);

/* The member of a map; NULL when there is none. */
const struct yaml_node *yaml_get(const struct yaml_node *map, const char *key);

/* Takes `node` out of the map; it is then the caller's. */
struct yaml_node *yaml_take(struct yaml_node *map, struct yaml_node *node);
/* Makes `node`, which it takes, a member of the map under a key, before `next`
 * (NULL: as the last).  -1: out of memory. */
int yaml_put(struct yaml_node *map, struct yaml_node *next, const char *key,
             struct yaml_node *node);
/* A new text, whose type is not open; NULL: out of memory. */
struct yaml_node *yaml_new_text(unsigned line, const char *text, size_t len);
/* A new map without members, counted as standing in `line`; NULL: out of
 * memory. */
struct yaml_node *yaml_new_map(unsigned line);

enum yaml_type yaml_type(const struct yaml_node *node);
/* "a text", "a map", ... for error texts. */
const char *yaml_type_name(const struct yaml_node *node);

/* Read a value; where a bool is expected, plain yes, no, on and off are bools
 * too. */
bool yaml_bool(const struct yaml_node *node, bool *out);
bool yaml_uint(const struct yaml_node *node, uint64_t *out);

/* Appends the node as JSON text, on one line; -1 with a problem added for
 * each infinity or NaN.  `path` names the node in problems. */
int yaml_write_json(const struct yaml_node *node, const char *file,
                    const char *path, struct buf *out,
                    struct problems *problems);

#endif

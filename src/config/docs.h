/* SPDX-License-Identifier: MIT */
/* docs.h - a sentence on each key of keys.c, for the schema, and its type
 * where the function that reads it does not tell.  Inside src/config only. */
#ifndef CONFIG_DOCS_H
#define CONFIG_DOCS_H

#include <stddef.h>

struct key_doc {
    const char *path; /* "metrics.final"; "*.name": wherever it stands */
    const char *text;
    const char *type; /* JSON Schema, without the braces; NULL: as it is read */
};

/* In place of a type: a list, of names or of maps of the key's own keys. */
#define DOC_LIST_OF_KEYS "[]"

/* NULL: there is none, which a test tells. */
const struct key_doc *key_doc_of(const char *path);

/* All of them, ended by a NULL path. */
extern const struct key_doc key_docs[];

#endif

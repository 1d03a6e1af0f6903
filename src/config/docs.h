/* SPDX-License-Identifier: MIT */
/* docs.h - a sentence on each key of keys.c, for the schema, and its type
 * where the function that reads it does not tell.  Inside src/config only. */
#ifndef CONFIG_DOCS_H
#define CONFIG_DOCS_H

#include <stddef.h>

struct key_doc {
    const char *path; /* as in "metrics.final"; "*.name": wherever it stands */
    const char *text;
    const char *type; /* JSON Schema, without the braces; NULL: as the key's
                         function reads it */
};

/* In place of a type: a list, of names or of maps of the key's own keys. */
#define DOC_LIST_OF_KEYS "[]"
/* The same of maps alone. */
#define DOC_LIST_OF_MAPS "[{}]"

/* The sentence on a key; NULL: there is none, which a test tells. */
const struct key_doc *key_doc_of(const char *path);

/* All sentences, ended by a NULL path. */
extern const struct key_doc key_docs[];

#endif

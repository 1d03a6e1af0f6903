/* SPDX-License-Identifier: MIT */
/* reader.h - nodes of the configuration -> typed values, driven by tables of
 * keys.  Inside src/config only. */
#ifndef CONFIG_READER_H
#define CONFIG_READER_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct problems;
struct reader;
struct yaml_node;

#define KEY_PATH_MAX 256

struct word {
    const char *word; /* NULL ends a table */
    int value;
};

struct key;
/* Checks the node and stores what it says at `target`. */
typedef void key_set(struct reader *r, const struct key *key,
                     const struct yaml_node *node, const char *path,
                     void *target);

enum key_flags {
    KEY_RUN = 0,      /* read for `run` only */
    KEY_DISPATCH = 1, /* also read for `dispatch` */
    KEY_REQUIRED = 2, /* has to be there where it is read */
    KEY_IDLE = 4,     /* accepted, without effect */
    /* known, and never right: `hint` says what to write instead */
    KEY_REFUSED = 8,
};

struct key {
    const char *name;
    key_set *set;  /* NULL: any value is fine, nothing is stored */
    size_t offset; /* of the target, from the base given to read_map() */
    unsigned flags;
    const char *hint;         /* REFUSED: the whole text; else unused */
    const struct word *words; /* for set_word() */
    const struct key *keys;   /* for set_map(): the table, ended by a NULL */
};

struct reader {
    const char *file; /* as the user named it, for problems */
    const char *folder;
    bool dispatches; /* for `dispatch`: keys that are for `run` alone are passed
                        over */
    struct problems *problems, *notes;
    const struct key
        *top; /* the keys of the whole document; NULL: another one */
    /* Options of the command line, and the keys in place of which they stand.
     */
    const char *const *options, *const *option_keys;
};

/* What comes from option I counts as standing in line READER_OPTION + I; no
 * file has so many lines. */
#define READER_OPTION 0x80000000u

/* Adds "FILE:LINE: PATH: text", or "--OPTION: text". */
void reader_problem(struct reader *r, unsigned line, const char *path,
                    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Adds a problem with a value: "expected ..., got ...". */
void reader_expected(struct reader *r, const struct yaml_node *node,
                     const char *path, const char *expected);
/* Compiles a regular expression, which the caller frees with regfree(); false:
 * it is wrong, which was added as a problem. */
bool reader_regex(struct reader *r, const struct yaml_node *node,
                  const char *path, int flags, regex_t *re);
void reader_note(struct reader *r, unsigned line, const char *path,
                 const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Reads a map by its table; `path` is "" for the top level. */
void read_map(struct reader *r, const struct key *keys,
              const struct yaml_node *node, const char *path, void *base);

/* FOLDER/PATH unless absolute; "~/" is the home folder.  To be freed. */
char *reader_resolve(const struct reader *r, const char *path);

key_set set_text;     /* char ** */
key_set set_path;     /* char **: absolute */
key_set set_command;  /* struct command_config * */
key_set set_count;    /* uint64_t *: >= 1 */
key_set set_duration; /* int64_t *: milliseconds, > 0 */
key_set set_bool;     /* bool * */
key_set set_word;     /* int * */
key_set set_json_map; /* char **: JSON on one line */
key_set set_map;      /* the struct that key->keys describe */

#endif

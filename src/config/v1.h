/* SPDX-License-Identifier: MIT */
/* v1.h - NNI's v1 keys, and v2's deprecated `advisor`, turned into v2's before
 * anything is read.  Inside src/config only. */
#ifndef CONFIG_V1_H
#define CONFIG_V1_H

struct reader;
struct yaml_node;

struct v1_rule {
    const char *from; /* KEY or KEY.KEY; NULL ends the table */
    const char *to;   /* the key of v2; NULL: left out, or refused */
    const char *note; /* why it is left out or refused */
    enum {
        V1_MOVE,   /* the value means the same */
        V1_DROP,   /* nothing depends on it */
        V1_UNSET,  /* left out when false, else refused */
        V1_REFUSE, /* always refused */
        V1_CLASS,  /* a file, FILE.py, that makes className FILE.CLASS */
        V1_LATEST, /* a bool that is one of two words */
    } how;
};

extern const struct v1_rule v1_rules[];
/* The maps of v1 that v2 does not have; ended by a NULL. */
extern const char *const v1_maps[];

/* Converts all keys.  Each that is converted is a note of the reader; one that
 * cannot be, or stands beside its v2 key, a problem. */
void v1_convert(struct reader *r, struct yaml_node *root);

#endif

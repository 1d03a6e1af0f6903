/* SPDX-License-Identifier: MIT */
/* err.h - one error, by value: a code named by its consequence and one line
 * of text naming the place, the value and what was expected.
 *
 * Every fallible function returns 0/-1 (or pointer/NULL) and takes a
 * `struct err *` last, which may be NULL when only the outcome matters.
 * Any thread; a struct err belongs to its caller. */
#ifndef CORE_ERR_H
#define CORE_ERR_H

#define ERR_TEXT_MAX 1024

enum err_code {
    ERR_NONE = 0,
    ERR_USAGE,    /* the command line is wrong: exit status 2 */
    ERR_CONFIG,   /* configuration or search space is wrong: nothing starts */
    ERR_INPUT,    /* this one input is wrong: it costs itself, nothing else */
    ERR_PROTOCOL, /* the byte stream cannot be followed: the session ends */
    ERR_PLUGIN,   /* a plugin refused or failed: one command, by policy */
    ERR_MEMORY,   /* an allocation of a size from outside failed */
    ERR_SYSTEM,   /* the operating system refused */
    ERR_LOG,      /* the command log is damaged or cannot be written */
};

struct err {
    enum err_code code;
    char text[ERR_TEXT_MAX];
    int number; /* err_errno(): what errno was; else 0 */
};

/* Fills *err (unless NULL) and returns -1.  Text that does not fit is cut;
 * it is made visible_line(), so that an error is always one line. */
int err_set(struct err *err, enum err_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Fills *err as err_set() does, with ": " and the text of errno appended. */
int err_errno(struct err *err, enum err_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "PLACE: " in front of the text err holds, whose code and number stay;
 * returns -1. */
int err_place(struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

void err_clear(struct err *err);

#endif

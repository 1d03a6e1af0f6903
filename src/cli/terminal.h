/* SPDX-License-Identifier: MIT */
/* terminal.h - a terminal that is painted as a whole.  One owner. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

struct buf;
struct err;

struct terminal {
    int in, out;
    struct termios before;
    bool open;
};

/* By the words of the locale in the environment. */
bool terminal_has_utf8(void);
/* Whether both can be used so. */
bool terminal_can(int in, int out);

/* Another screen, no cursor, keys as they are pressed; Ctrl-C stays what it
 * is. */
int terminal_open(struct terminal *t, int in, int out, struct err *err);
/* All as it was. */
void terminal_close(struct terminal *t);

void terminal_size(const struct terminal *t, size_t *rows, size_t *columns);

/* Makes of lines of text, each ended by LF, what paints a screen of that size:
 * cut on the right and below, one blank where less.  The first `bold` lines are
 * so. */
void terminal_frame(const char *text, size_t rows, size_t columns, size_t bold,
                    struct buf *out);

#endif

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

/* Whether the locale in the environment is one with UTF-8. */
bool terminal_has_utf8(void);
/* Whether both descriptors are a terminal that can be painted. */
bool terminal_can(int in, int out);

/* Switches to another screen without a cursor, and gets keys as they are
 * pressed; Ctrl-C stays what it is. */
int terminal_open(struct terminal *t, int in, int out, struct err *err);
/* Restores the screen, the cursor and the keys. */
void terminal_close(struct terminal *t);

void terminal_size(const struct terminal *t, size_t *rows, size_t *columns);

/* Appends what paints a screen of that size with lines of text, each ended by
 * LF: cut on the right and below, blank where there is less.  The first `bold`
 * lines are bold. */
void terminal_frame(const char *text, size_t rows, size_t columns, size_t bold,
                    struct buf *out);

#endif

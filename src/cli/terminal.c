/* SPDX-License-Identifier: MIT */
#include "cli/terminal.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define ENTER "\033[?1049h\033[?25l\033[2J"
#define LEAVE "\033[?25h\033[?1049l"

bool
terminal_has_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);

        if (value != NULL && value[0] != '\0')
            return strcasestr(value, "UTF-8") != NULL ||
                   strcasestr(value, "utf8") != NULL;
    }
    return false;
}

bool
terminal_can(int in, int out)
{
    const char *term = getenv("TERM");

    return isatty(in) && isatty(out) && term != NULL &&
           strcmp(term, "dumb") != 0;
}

int
terminal_open(struct terminal *t, int in, int out, struct err *err)
{
    struct termios now;

    *t = (struct terminal){.in = in, .out = out};
    if (tcgetattr(in, &t->before) != 0)
        return err_errno(err, ERR_SYSTEM, "the terminal");
    now = t->before;
    now.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    now.c_cc[VMIN] = 1;
    now.c_cc[VTIME] = 0;
    /* a stop would leave the screen as it is */
    now.c_cc[VSUSP] = _POSIX_VDISABLE;
    if (tcsetattr(in, TCSANOW, &now) != 0 ||
        file_write_all(out, ENTER, sizeof ENTER - 1, NULL) != 0)
        return err_errno(err, ERR_SYSTEM, "the terminal");
    t->open = true;
    return 0;
}

void
terminal_close(struct terminal *t)
{
    if (!t->open)
        return;
    file_write_all(t->out, LEAVE, sizeof LEAVE - 1, NULL);
    tcsetattr(t->in, TCSANOW, &t->before);
    t->open = false;
}

void
terminal_size(const struct terminal *t, size_t *rows, size_t *columns)
{
    struct winsize size;
    bool known = ioctl(t->out, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 &&
                 size.ws_col > 0;

    *rows = known ? size.ws_row : 24;
    *columns = known ? size.ws_col : 80;
}

/* How many bytes the first `columns` characters of a line take, each of which
 * is one column wide. */
static size_t
cut(const char *line, size_t len, size_t columns)
{
    size_t at = 0;

    while (at < len) {
        bool begins = ((unsigned char)line[at] & 0xc0) != 0x80;

        if (begins && columns-- == 0)
            break;
        at++;
    }
    return at;
}

void
terminal_frame(const char *text, size_t rows, size_t columns, size_t bold,
               struct buf *out)
{
    size_t row = 0;

    buf_add_text(out, "\033[H");
    for (; row < rows && *text != '\0'; row++) {
        size_t len = strcspn(text, "\n");

        buf_add_text(out, row > 0 ? "\r\n\033[2K" : "\033[2K");
        if (row < bold)
            buf_add_text(out, "\033[1m");
        buf_add(out, text, cut(text, len, columns));
        if (row < bold)
            buf_add_text(out, "\033[0m");
        text += len + (text[len] == '\n');
    }
    if (row < rows)
        buf_add_text(out, row > 0 ? "\r\n\033[J" : "\033[J");
}

/* SPDX-License-Identifier: MIT */
#include "manager/display.h"

#include "core/buf.h"
#include "core/number.h"
#include "core/visible.h"
#include "manager/parameters.h"

#include <string.h>
#include <sys/ioctl.h>

#define SHORT_MAX 40

struct displaying {
    struct buf *out;
    const char *but;
    size_t most;
};

static void
add_parameter(void *ctx, const char *name, const char *value, size_t len)
{
    const struct displaying *d = ctx;
    struct buf *out = d->out;
    double number;

    if (out->len >= d->most || parameters_is_folder(name) ||
        (d->but != NULL && strcmp(name, d->but) == 0))
        return;
    if (out->len > 0)
        buf_add_text(out, "  ");
    visible_text(out, name, strlen(name), SHORT_MAX);
    buf_add_char(out, '=');
    if (strpbrk(value, ".e") != NULL && number_parse(value, len, &number))
        buf_printf(out, "%.4g", number);
    else
        visible_text(out, value, len, SHORT_MAX);
}

void
display_parameters(struct buf *out, struct jval parameters, const char *but,
                   size_t most)
{
    struct displaying d = {out, but, most};

    parameters_flatten(parameters, add_parameter, &d, NULL);
}

void
display_values(struct buf *out, struct jval values)
{
    struct jval_iter it = jval_iter(values);
    const char *between = "";
    double number;

    while (jval_next(&it)) {
        if (!jval_number(it.value, &number))
            continue;
        buf_add_text(out, between);
        if (strcmp(it.key, "default") != 0) {
            visible_text(out, it.key, strlen(it.key), SHORT_MAX);
            buf_add_char(out, '=');
        }
        buf_printf(out, "%.6g", number);
        between = " ";
    }
}

int
display_columns(int fd)
{
    struct winsize size;

    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col
                                                                : 80;
}

/* SPDX-License-Identifier: MIT */
#include "manager/display.h"

#include "core/buf.h"
#include "core/number.h"
#include "core/visible.h"
#include "manager/parameters.h"

#include <string.h>
#include <sys/ioctl.h>

#define SHORT_MAX 40
#define PARAMETERS_MAX 400

void
display_parameter(struct buf *out, const char *name, const char *value,
                  size_t len)
{
    double number;

    visible_text(out, name, strlen(name), SHORT_MAX);
    buf_add_char(out, '=');
    if (strpbrk(value, ".e") != NULL && number_parse(value, len, &number))
        buf_printf(out, "%.4g", number);
    else
        visible_text(out, value, len, SHORT_MAX);
}

static void
add_parameter(void *ctx, const char *name, const char *value, size_t len)
{
    struct buf *out = ctx;

    if (out->len >= PARAMETERS_MAX)
        return;
    if (out->len > 0)
        buf_add_text(out, "  ");
    display_parameter(out, name, value, len);
}

void
display_parameters(struct buf *out, struct jval parameters)
{
    parameters_flatten(parameters, add_parameter, out, NULL);
}

int
display_columns(int fd)
{
    struct winsize size;

    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col
                                                                : 80;
}

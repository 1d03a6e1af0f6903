/* SPDX-License-Identifier: MIT */
#include "cli/replay_modes.h"

#include "core/buf.h"

void
replay_print_against(FILE *out, const char *plugin, bool maximize,
                     const char *option, const char *quote)
{
    static const char *const modes[] = {"minimize", "maximize"};

    fprintf(out,
            "the %s is to %s, the experiment %ss: give it "
            "%s%s{\"optimize_mode\": \"%s\"}%s\n",
            plugin, modes[!maximize], modes[maximize], option, quote,
            modes[maximize], quote);
}

int
replay_print_json(FILE *out, struct buf *text, struct err *err)
{
    int rc = buf_check(text, "the table", err);

    if (rc == 0)
        fputs(buf_text(text), out);
    buf_fini(text);
    return rc;
}

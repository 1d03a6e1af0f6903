/* SPDX-License-Identifier: MIT */
#include "replay/play.h"

#include "core/err.h"

#include <stdlib.h>
#include <string.h>

/* The texts lie behind the pointers, in one piece of memory: at most one word
 * for each two bytes. */
struct words {
    const char **argv;
    size_t n;
    char *to;
    bool open; /* a word has begun */
};

static void
put(struct words *w, char c)
{
    if (!w->open)
        w->argv[w->n++] = w->to;
    w->open = true;
    if (c != '\0')
        *w->to++ = c;
}

static void
close_word(struct words *w)
{
    if (w->open)
        *w->to++ = '\0';
    w->open = false;
}

/* Splits; false: a shell is needed. */
static bool
split(struct words *w, const char *text)
{
    char quote = '\0';

    for (const char *p = text; *p != '\0'; p++) {
        if (quote != '\0') {
            if (*p == quote)
                quote = '\0';
            else if (quote == '"' && strchr("$`\\!", *p) != NULL)
                return false;
            else
                put(w, *p);
        } else if (*p == '\'' || *p == '"') {
            quote = *p;
            put(w, '\0');
        } else if (*p == ' ' || *p == '\t') {
            close_word(w);
        } else if (strchr("|&;<>()$`\\*?[]{}~#!\n", *p) != NULL ||
                   (*p == '=' && w->n <= 1)) {
            return false;
        } else {
            put(w, *p);
        }
    }
    close_word(w);
    return quote == '\0';
}

const char **
play_words(const char *text, bool *shell, struct err *err)
{
    size_t len = strlen(text), n = len / 2 + 5;
    struct words w = {.argv = calloc(1, n * sizeof *w.argv + 2 * len + 16)};

    if (w.argv == NULL) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    w.to = (char *)(w.argv + n);
    *shell = !split(&w, text);
    if (*shell) {
        memset(w.argv, 0, n * sizeof *w.argv);
        w.argv[0] = "sh";
        w.argv[1] = "-c";
        w.argv[2] = memcpy(w.argv + n, text, len + 1);
    } else if (w.n == 0) {
        free(w.argv);
        err_set(err, ERR_USAGE, "expected a command, got '%s'", text);
        return NULL;
    }
    return w.argv;
}

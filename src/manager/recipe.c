/* SPDX-License-Identifier: MIT */
#include "manager/recipe.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/number.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void
add(struct buf *out, const char *text)
{
    buf_add(out, text, strlen(text) + 1);
}

void
recipe_write(struct buf *out, const char *folder, const char *const argv[],
             char *const env[])
{
    size_t n = 0;

    while (argv[n] != NULL)
        n++;
    add(out, folder);
    buf_printf(out, "%zu", n);
    buf_add_char(out, '\0');
    for (size_t i = 0; i < n; i++)
        add(out, argv[i]);
    for (; *env != NULL; env++)
        add(out, *env);
}

static size_t
count(const char *bytes, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        n += bytes[i] == '\0';
    return n;
}

/* Of n texts, from *at on; *at moves behind them. */
static char **
list(char **at, size_t n)
{
    char **texts = calloc(n + 1, sizeof *texts);

    for (size_t i = 0; texts != NULL && i < n; i++) {
        texts[i] = *at;
        *at += strlen(*at) + 1;
    }
    return texts;
}

static int
read_texts(struct recipe *r, size_t n, struct err *err)
{
    char *at = r->bytes;
    const char *number;
    uint64_t words = 0;

    r->folder = at;
    at += strlen(at) + 1;
    number = at;
    at += strlen(at) + 1;
    if (!number_parse_u64(number, strlen(number), &words) || words == 0 ||
        words > n - 2)
        return err_set(err, ERR_INPUT,
                       "expected a number of words, got '%.40s'", number);
    r->argv = list(&at, words);
    r->env = list(&at, n - 2 - words);
    return r->argv == NULL || r->env == NULL
               ? err_set(err, ERR_MEMORY, "out of memory")
               : 0;
}

int
recipe_read(struct recipe *r, const char *bytes, size_t len, struct err *err)
{
    size_t n = count(bytes, len);

    *r = (struct recipe){0};
    if (n < 3 || bytes[len - 1] != '\0')
        return err_set(err, ERR_INPUT,
                       "is cut off: expected at least three texts, each ended "
                       "by a NUL");
    r->bytes = malloc(len);
    if (r->bytes == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    memcpy(r->bytes, bytes, len);
    if (read_texts(r, n, err) == 0)
        return 0;
    recipe_fini(r);
    return -1;
}

void
recipe_fini(struct recipe *r)
{
    free(r->bytes);
    free(r->argv);
    free(r->env);
    *r = (struct recipe){0};
}

/* SPDX-License-Identifier: MIT */
#include "client/value.h"

#include "core/err.h"
#include "core/number.h"
#include "json.h"

#include <math.h>
#include <string.h>
#include <strings.h>

void
value_add(struct json_writer *w, const char *key, double value)
{
    char text[NUMBER_TEXT_MAX];

    number_format(value, text);
    if (isfinite(value))
        json_add_raw(w, key, text);
    else
        json_add_text(w, key, text);
}

/* What JSON cannot spell, as C, awk and others print it; NULL: it is none. */
static const char *
find_word(const char *text)
{
    bool negative = text[0] == '-';

    text += negative;
    if (strcasecmp(text, "nan") == 0)
        return "NaN";
    if (strcasecmp(text, "inf") == 0 || strcasecmp(text, "infinity") == 0)
        return negative ? "-Infinity" : "Infinity";
    return NULL;
}

int
value_add_text(struct json_writer *w, const char *key, const char *text,
               struct err *err)
{
    const char *word = find_word(text);
    char shown[QUOTE_MAX];
    struct json *doc;

    if (word != NULL) {
        json_add_text(w, key, word);
        return 0;
    }
    doc = json_parse(text, strlen(text), JSON_UNIQUE, NULL);
    if (doc == NULL)
        return err_set(err, ERR_INPUT,
                       "value %s: expected a number, or an object with the "
                       "number as \"default\"",
                       quote_bytes(shown, text, strlen(text)));
    jval_write(json_root(doc), json_value(w, key));
    json_free(doc);
    return 0;
}

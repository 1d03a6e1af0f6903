/* SPDX-License-Identifier: MIT */
/* Objectives, and behind a line feed a reported value: either a line that says
 * why not, or objectives that are written as what is read the same again, and
 * values whose distances from the limits are never NaN. */
#include "fuzz.h"

#include "core/err.h"
#include "json.h"
#include "objectives/objectives.h"

#include <math.h>
#include <string.h>

static void
must_be_a_line(const struct err *err)
{
    MUST(err->text[0] != '\0' && strchr(err->text, '\n') == NULL);
}

static void
read_again(const struct objectives *o)
{
    char *text = objectives_text(o), *same;
    struct objectives *again = objectives_read(text, NULL);

    MUST(again != NULL);
    same = objectives_text(again);
    MUST(strcmp(text, same) == 0);
    free(same);
    free(text);
    objectives_free(again);
}

static void
take(const struct objectives *o, const char *reported)
{
    struct json *doc = json_parse(reported, strlen(reported), JSON_NAN, NULL);
    struct objective_values values = {0};
    struct err err = {0};

    if (doc == NULL)
        return;
    if (objectives_take(o, json_root(doc), &values, &err) == 0) {
        MUST(values.violation >= 0);
        MUST(!objectives_dominates(o, &values, &values));
        objectives_reached(o, &values);
    } else {
        must_be_a_line(&err);
    }
    json_free(doc);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *reported;
    struct objectives *o;
    struct err err = {0};

    MUST(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    reported = strchr(text, '\n');
    if (reported != NULL)
        *reported++ = '\0';
    o = objectives_read(text, &err);
    if (o == NULL) {
        must_be_a_line(&err);
    } else {
        read_again(o);
        if (reported != NULL)
            take(o, reported);
    }
    objectives_free(o);
    free(text);
    return 0;
}

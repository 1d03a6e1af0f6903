/* SPDX-License-Identifier: MIT */
/* Commands with {NAME} in them: a plain value fits wherever a name stands, and
 * a value that needs quotes fits just where the check of the search space finds
 * nothing. */
#include "fuzz.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/problems.h"
#include "json.h"
#include "manager/command_template.h"
#include "space/space.h"

#include <stdbool.h>
#include <string.h>

#define TEXT_MAX ((size_t)1 << 24)

static const char space_text[] =
    "{\"v\": {\"_type\": \"choice\", \"_value\": [\"'$(x)\"]}}";

static bool
fits(const char *command, const struct space *space, const char *parameters)
{
    struct json *doc =
        json_parse(parameters, strlen(parameters), JSON_STRICT, NULL);
    struct buf out;
    bool fit;

    MUST(doc != NULL);
    buf_init(&out, TEXT_MAX);
    fit =
        command_template_fill(command, space, json_root(doc), &out, NULL) == 0;
    buf_fini(&out);
    json_free(doc);
    return fit;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json *doc = json_parse(space_text, strlen(space_text), 0, NULL);
    char *command = strndup((const char *)data, size);
    struct problems problems, notes;
    struct space *space;

    MUST(doc != NULL && command != NULL);
    problems_init(&problems);
    space = space_parse(json_root(doc), &problems);
    MUST(space != NULL);
    command_template_check(command, space, "", "key", &problems);
    problems_init(&notes);
    command_template_note(command, space, json_root(doc), true, "", "key",
                          &notes);
    problems_fini(&notes);
    MUST(fits(command, space, "{\"v\": \"plain\"}"));
    MUST(fits(command, space, "{}"));
    MUST(fits(command, space, "{\"v\": \"'$(x)\"}") == (problems.count == 0));
    problems_fini(&problems);
    space_free(space);
    json_free(doc);
    free(command);
    return 0;
}

/* SPDX-License-Identifier: MIT */
#include "nni/exp_params.h"

#include "core/buf.h"
#include "core/err.h"
#include "nni/base64.h"
#include "quote.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#define ARGUMENT "--exp_params"

enum section { SECTION_TUNER, SECTION_ASSESSOR, SECTION_ADVISOR };

static const struct {
    const char *key;
    const char *names[3]; /* the keys that may hold an algorithm's name, besides
                             "name" */
} sections[] = {
    [SECTION_TUNER] = {"tuner", {"name", "builtinTunerName", NULL}},
    [SECTION_ASSESSOR] = {"assessor", {"name", "builtinAssessorName", NULL}},
    [SECTION_ADVISOR] = {"advisor", {"name", "builtinAdvisorName", NULL}},
};

/* Reads a text.  An absent key, null and "" are the same: not given. */
static int
read_text(struct jval object, const char *where, const char *key,
          const char **out, struct err *err)
{
    char got[QUOTE_MAX];
    struct jval v;
    const char *text;
    size_t len;

    if (!jval_get(object, key, &v) || jval_type(v) == JSON_NULL)
        return 0;
    if (!jval_string(v, &text, &len) || strlen(text) != len)
        return err_set(
            err, ERR_CONFIG, ARGUMENT ": %s.%s: expected a text%s, got %s",
            where, key, jval_type(v) == JSON_STRING ? " without \\u0000" : "",
            jval_quote(got, v));
    if (len > 0)
        *out = text;
    return 0;
}

static int
read_names(struct jval object, enum section s, struct nni_algorithm *out,
           struct err *err)
{
    const char *where = sections[s].key;
    const struct {
        const char *key;
        const char **to;
    } texts[] = {
        {"className", &out->class_name},
        {"codeDirectory", &out->code_directory},
        {"codeDir", &out->code_directory},
        {"classFileName", &out->class_file},
    };

    for (size_t i = 0; sections[s].names[i] != NULL; i++)
        if (read_text(object, where, sections[s].names[i], &out->name, err) !=
            0)
            return -1;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (read_text(object, where, texts[i].key, texts[i].to, err) != 0)
            return -1;
    if (out->name == NULL && out->class_name == NULL)
        return err_set(err, ERR_CONFIG,
                       ARGUMENT ": %s: expected a name, as in {\"name\": "
                                "\"%s\"}, or a className",
                       where, s == SECTION_ASSESSOR ? "Medianstop" : "TPE");
    return 0;
}

/* Reads a section, such as the tuner; absent or null: not given. */
static int
read_section(struct jval root, enum section s, struct nni_algorithm *out,
             struct err *err)
{
    const char *where = sections[s].key;
    char got[QUOTE_MAX];
    struct jval v;

    *out = (struct nni_algorithm){0};
    if (!jval_get(root, where, &v) || jval_type(v) == JSON_NULL)
        return 0;
    if (jval_type(v) != JSON_OBJECT)
        return err_set(err, ERR_CONFIG,
                       ARGUMENT ": %s: expected an object such as "
                                "{\"name\": \"%s\"}, got %s",
                       where, s == SECTION_ASSESSOR ? "Medianstop" : "TPE",
                       jval_quote(got, v));
    if (read_names(v, s, out, err) != 0)
        return -1;
    if (jval_get(v, "classArgs", &out->args) &&
        jval_type(out->args) != JSON_OBJECT &&
        jval_type(out->args) != JSON_NULL)
        return err_set(err, ERR_CONFIG,
                       ARGUMENT ": %s.classArgs: expected an object, got %s",
                       where, jval_quote(got, out->args));
    out->given = true;
    return 0;
}

/* Whether multiThread is set: v1 has it at the top, v2 in `deprecated`. */
static bool
is_multi_threaded(struct jval root)
{
    struct jval deprecated, v;
    bool on = false;

    if (jval_get(root, "multiThread", &v))
        (void)jval_bool(v, &on);
    if (!on && jval_get(root, "deprecated", &deprecated) &&
        jval_get(deprecated, "multiThread", &v))
        (void)jval_bool(v, &on);
    return on;
}

/* Reads the tuner, the assessor or the advisor.  An advisor is tuner and
 * assessor in one: others beside it do not count. */
static int
read_sections(struct jval root, struct exp_params *out, struct err *err)
{
    struct nni_algorithm advisor;

    if (read_section(root, SECTION_ADVISOR, &advisor, err) != 0 ||
        read_section(root, SECTION_ASSESSOR, &out->assessor, err) != 0)
        return -1;
    if (advisor.given) {
        out->tuner = advisor;
        out->advisor = true;
        out->assessor_ignored = out->assessor.given;
        out->assessor = (struct nni_algorithm){0};
        return 0;
    }
    if (read_section(root, SECTION_TUNER, &out->tuner, err) != 0)
        return -1;
    if (!out->tuner.given)
        return err_set(err, ERR_CONFIG,
                       ARGUMENT ": tuner: missing, expected an object such "
                                "as {\"name\": \"TPE\"}");
    return 0;
}

static int
parse(const char *text, struct exp_params *out, struct err *err)
{
    struct jval root, v;
    struct buf json;

    buf_init(&json, EXP_PARAMS_MAX);
    if (base64_decode(text, strlen(text), &json, err) == 0)
        out->doc = json_parse(buf_text(&json), json.len, JSON_STRICT, err);
    buf_fini(&json);
    if (out->doc == NULL) {
        err->code = ERR_CONFIG;
        return err_place(err, ARGUMENT);
    }
    root = json_root(out->doc);
    if (jval_type(root) != JSON_OBJECT)
        return err_set(err, ERR_CONFIG,
                       ARGUMENT ": expected an experiment's configuration, an "
                                "object, got %s",
                       jval_type_name(root));
    out->legacy = jval_get(root, "trainingServicePlatform", &v);
    out->multi_thread = is_multi_threaded(root);
    return read_sections(root, out, err);
}

int
exp_params_read(const char *text, struct exp_params *out, struct err *err)
{
    struct err local;

    *out = (struct exp_params){0};
    return parse(text, out, err != NULL ? err : &local);
}

void
exp_params_fini(struct exp_params *p)
{
    json_free(p->doc);
    *p = (struct exp_params){0};
}

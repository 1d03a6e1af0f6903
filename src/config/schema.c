/* SPDX-License-Identifier: MIT */
/* DESIGN.  One walk over the table of keys.  The type of a key follows from the
 * function that reads it, unless docs.c has one; keys of NNI v1 refer to the
 * type of what they are read as.  What holds between keys is said at the end of
 * the map in which it holds. */
#include "config/schema.h"

#include "config/docs.h"
#include "config/keys.h"
#include "config/reader.h"
#include "config/v1.h"
#include "core/buf.h"
#include "json.h"

#include <stdio.h>
#include <string.h>

#define NUMBER "[0-9]*[.]?[0-9]+([eE][-+]?[0-9]+)?"

/* Types that several keys have.  null counts as absent everywhere. */
static const char defs[] =
    "\"text\": {\"type\": [\"string\", \"number\", \"boolean\", \"null\"], "
    "\"minLength\": 1},\n"
    "    \"count\": {\"type\": [\"integer\", \"null\"], \"minimum\": 1},\n"
    "    \"bool\": {\"enum\": [true, false, \"yes\", \"no\", \"on\", \"off\", "
    "null]},\n"
    "    \"duration\": {\"type\": [\"string\", \"number\", \"null\"], "
    "\"exclusiveMinimum\": 0, \"pattern\": \"^" NUMBER " *[smhd]? *$\"},\n"
    "    \"size\": {\"type\": [\"string\", \"integer\", \"null\"], "
    "\"minimum\": 0, \"pattern\": \"^[0-9]+[kMG]?$\"},\n"
    "    \"map\": {\"type\": [\"object\", \"null\"]},\n"
    "    \"space\": {\"type\": [\"object\", \"null\"], "
    "\"additionalProperties\": {\"type\": \"object\", \"required\": "
    "[\"_type\", \"_value\"], \"properties\": {\"_type\": {\"enum\": "
    "[\"choice\", \"randint\", \"qrandint\", \"lograndint\", "
    "\"uniform\", \"quniform\", \"loguniform\", "
    "\"qloguniform\", \"normal\", \"qnormal\", \"lognormal\", "
    "\"qlognormal\"]}, \"_value\": {\"type\": \"array\"}}}}";

static const struct {
    key_set *set;
    const char *def;
} types[] = {
    {set_text, "text"},    {set_command, "text"}, {set_path, "text"},
    {set_count, "count"},  {set_bool, "bool"},    {set_duration, "duration"},
    {set_json_map, "map"},
};

#define TOLD(algorithm)                                                    \
    "{\"required\": [\"" algorithm "\"], \"properties\": {\"" algorithm    \
    "\": {\"required\": [\"classArgs\"], \"properties\": {\"classArgs\": " \
    "{\"required\": [\"optimize_mode\"]}}}}}"

/* Rules between the keys of a map. */
static const struct {
    const char *path, *rule;
} rules[] = {
    {"", "\"allOf\": [{\"anyOf\": [{\"required\": [\"searchSpace\"]}, "
         "{\"required\": [\"searchSpaceFile\"]}, {\"required\": "
         "[\"searchSpacePath\"]}]}, {\"anyOf\": [{\"required\": "
         "[\"trialCommand\"]}, {\"required\": [\"trial\"]}, {\"required\": "
         "[\"trainingService\"], \"properties\": {\"trainingService\": "
         "{\"required\": [\"trialCommand\"]}}}, {\"required\": "
         "[\"trainingService\"], \"properties\": {\"trainingService\": "
         "{\"required\": [\"platform\"], \"properties\": {\"platform\": "
         "{\"const\": \"client\"}}}}}]}, {\"anyOf\": [{\"required\": "
         "[\"direction\"]}, {\"required\": [\"objectives\"]}, " TOLD(
             "tuner") ", " TOLD("advisor") ", " TOLD("assessor") "]}]"},
    {"tuner", "\"anyOf\": [{\"required\": [\"name\"]}, {\"required\": "
              "[\"plugin\"]}, {\"required\": [\"className\"]}, {\"required\": "
              "[\"builtinTunerName\"]}, {\"required\": "
              "[\"builtinAdvisorName\"]}]"},
    {"assessor", "\"anyOf\": [{\"required\": [\"name\"]}, {\"required\": "
                 "[\"plugin\"]}, {\"required\": [\"className\"]}, "
                 "{\"required\": [\"builtinAssessorName\"]}]"},
    {"filters", "\"required\": [\"name\"]"},
};

struct place {
    char path[KEY_PATH_MAX];
    int depth; /* of indentation */
};

/* The place of a member; the paths of our own table are short. */
static struct place
below(const struct place *p, const char *name)
{
    struct place inner = {.depth = p->depth + 1};

    if (snprintf(inner.path, sizeof inner.path, "%s%s%s", p->path,
                 p->path[0] != '\0' ? "." : "", name) >= (int)sizeof inner.path)
        inner.path[0] = '\0';
    return inner;
}

/* A property begins on a line of its own. */
static void
begin(struct json_writer *w, const struct place *p, const char *name)
{
    char line[64];

    snprintf(line, sizeof line, ",\n%*s", 4 * p->depth, "");
    if (!w->due)
        buf_add_text(w->out, line + 1);
    json_separate(w, line, ": ");
    json_open_object(w, name);
    json_separate(w, ", ", ": ");
}

static void
end(struct json_writer *w, const char *text)
{
    if (text != NULL && text[0] != '\0')
        json_add_text(w, "description", text);
    json_close(w);
}

/* Members that are written already. */
static void
add_members(struct json_writer *w, const char *members)
{
    buf_add_text(json_value(w, NULL), members);
}

static void
write_words(struct json_writer *w, const struct word *words)
{
    json_open_array(w, "enum");
    for (; words->word != NULL; words++)
        json_add_text(w, NULL, words->word);
    json_add_text(w, NULL, NULL);
    json_close(w);
}

/* Writes a reference: #/properties/A/properties/B for "A.B". */
static void
write_reference(struct json_writer *w, const char *path)
{
    struct buf *out = json_value(w, "$ref");
    const char *dot;

    buf_add_text(out, "\"#");
    do {
        dot = strchr(path, '.');
        buf_printf(out, "/properties/%.*s",
                   dot != NULL ? (int)(dot - path) : (int)strlen(path), path);
        path = dot != NULL ? dot + 1 : NULL;
    } while (path != NULL);
    buf_add_char(out, '"');
}

static void
write_v1_type(struct json_writer *w, const struct v1_rule *rule)
{
    switch (rule->how) {
    case V1_MOVE:
        write_reference(w, rule->to);
        break;
    case V1_DROP:
        json_add_text(w, "$comment", "any value");
        break;
    case V1_UNSET:
        json_add_raw(w, "enum", "[false, \"no\", \"off\", null]");
        break;
    case V1_REFUSE:
        json_add_raw(w, "not", "{}");
        break;
    case V1_CLASS:
        json_add_text(w, "type", "string");
        json_add_text(w, "pattern", ".[.]py$");
        break;
    case V1_LATEST:
        json_add_text(w, "$ref", "#/$defs/bool");
        break;
    }
}

static void
write_v1_key(struct json_writer *w, const struct place *p,
             const struct v1_rule *rule, const char *name)
{
    char text[256];

    if (rule->to != NULL)
        snprintf(text, sizeof text, "NNI v1: read as %s.", rule->to);
    else
        snprintf(text, sizeof text, "NNI v1: %s.",
                 rule->note != NULL ? rule->note : "left out");
    begin(w, p, name);
    write_v1_type(w, rule);
    json_add_bool(w, "deprecated", true);
    end(w, text);
}

/* Writes the keys of NNI v1 of one map, behind today's. */
static void
write_v1_keys(struct json_writer *w, const struct place *p)
{
    size_t len = strlen(p->path);

    for (const struct v1_rule *k = v1_rules; k->from != NULL; k++) {
        const char *dot = strchr(k->from, '.');

        if (len == 0 && dot == NULL)
            write_v1_key(w, p, k, k->from);
        else if (dot != NULL && (size_t)(dot - k->from) == len &&
                 strncmp(k->from, p->path, len) == 0)
            write_v1_key(w, p, k, dot + 1);
    }
}

/* Writes the maps of v1 that v2 does not have. */
static void
write_v1_maps(struct json_writer *w, const struct place *p)
{
    for (size_t i = 0; v1_maps[i] != NULL; i++) {
        struct place inner = below(p, v1_maps[i]);

        begin(w, p, v1_maps[i]);
        json_add_raw(w, "type", "[\"object\", \"null\"]");
        json_add_bool(w, "additionalProperties", false);
        json_add_bool(w, "deprecated", true);
        json_open_object(w, "properties");
        write_v1_keys(w, &inner);
        json_close(w);
        end(w, "NNI v1.");
    }
}

static void
write_required(struct json_writer *w, const struct key *keys)
{
    bool open = false;

    for (const struct key *k = keys; k->name != NULL; k++)
        if (k->flags & KEY_REQUIRED) {
            if (!open)
                json_open_array(w, "required");
            open = true;
            json_add_text(w, NULL, k->name);
        }
    if (open)
        json_close(w);
}

static void write_key(struct json_writer *w, const struct place *p,
                      const struct key *key);

/* Writes what is inside the braces of a map's schema, but for its type. */
static void
write_map(struct json_writer *w, const struct place *p, const struct key *keys)
{
    json_add_bool(w, "additionalProperties", false);
    write_required(w, keys);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(rules[i].path, p->path) == 0)
            add_members(w, rules[i].rule);
    json_open_object(w, "properties");
    for (const struct key *k = keys; k->name != NULL; k++)
        write_key(w, p, k);
    write_v1_keys(w, p);
    if (p->path[0] == '\0')
        write_v1_maps(w, p);
    json_close(w);
}

static void
write_type(struct json_writer *w, const struct place *p, const struct key *key,
           const struct key_doc *doc)
{
    if (key->flags & KEY_REFUSED) {
        json_add_raw(w, "not", "{}");
    } else if (doc != NULL && doc->type != NULL &&
               (strcmp(doc->type, DOC_LIST_OF_KEYS) == 0 ||
                strcmp(doc->type, DOC_LIST_OF_MAPS) == 0)) {
        json_add_raw(w, "type", "[\"array\", \"null\"]");
        json_open_object(w, "items");
        json_add_raw(w, "type",
                     strcmp(doc->type, DOC_LIST_OF_MAPS) == 0
                         ? "\"object\""
                         : "[\"string\", \"object\"]");
        write_map(w, p, key->keys);
        json_close(w);
    } else if (doc != NULL && doc->type != NULL) {
        add_members(w, doc->type);
    } else if (key->keys != NULL) {
        json_add_raw(w, "type", "[\"object\", \"null\"]");
        write_map(w, p, key->keys);
    } else if (key->words != NULL) {
        write_words(w, key->words);
    } else {
        for (size_t i = 0; i < sizeof types / sizeof *types; i++)
            if (types[i].set == key->set) {
                buf_printf(json_value(w, "$ref"), "\"#/$defs/%s\"",
                           types[i].def);
                return;
            }
        json_add_text(w, "$comment", "any value");
    }
}

static void
write_key(struct json_writer *w, const struct place *p, const struct key *key)
{
    struct place inner = below(p, key->name);
    const struct key_doc *doc = key_doc_of(inner.path);
    char text[512];

    begin(w, p, key->name);
    write_type(w, &inner, key, doc);
    snprintf(text, sizeof text, "%s%s", doc != NULL ? doc->text : "",
             key->flags & KEY_IDLE ? " Accepted, without effect." : "");
    end(w, key->flags & KEY_REFUSED ? key->hint : text);
}

void
schema_write(struct buf *out)
{
    struct place top = {.path = "", .depth = 1};
    struct json_writer w = json_begin_object(out);

    buf_add_text(out, "\n  ");
    json_separate(&w, ",\n  ", ": ");
    json_add_text(&w, "$schema",
                  "https://json-schema.org/draft/2020-12/schema");
    json_add_text(&w, "title", "An experiment of tunepipe");
    buf_printf(json_value(&w, "$defs"), "{\n    %s}", defs);
    json_add_text(&w, "type", "object");
    json_separate(&w, ", ", ": ");
    write_map(&w, &top, config_keys);
    json_close(&w);
    buf_add_char(out, '\n');
}

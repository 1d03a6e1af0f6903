/* SPDX-License-Identifier: MIT */
#include "nni/environment.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *word;
    enum log_level level;
} levels[] = {
    {"fatal", LOG_ERROR}, {"critical", LOG_ERROR},  {"error", LOG_ERROR},
    {"info", LOG_INFO},   {"warning", LOG_WARNING}, {"debug", LOG_DEBUG},
    {"trace", LOG_DEBUG},
};

static enum log_level
level_of(const char *word)
{
    for (size_t i = 0; word != NULL && i < sizeof levels / sizeof *levels; i++)
        if (strcmp(word, levels[i].word) == 0)
            return levels[i].level;
    return LOG_INFO;
}

static const char *
text_of(const char *value, const char *otherwise)
{
    return value == NULL || value[0] == '\0' ? otherwise : value;
}

static bool
is(const char *value, const char *word)
{
    return value != NULL && strcmp(value, word) == 0;
}

void
nni_environment_read(struct nni_environment *out,
                     const char *(*get)(const char *name))
{
    *out = (struct nni_environment){
        .channel = text_of(get("NNI_TUNER_COMMAND_CHANNEL"), NULL),
        .checkpoint = text_of(get("NNI_CHECKPOINT_DIRECTORY"), NULL),
        .log_folder = text_of(get("NNI_LOG_DIRECTORY"), "."),
        .level = level_of(get("NNI_LOG_LEVEL")),
        .resume = is(get("NNI_MODE"), "resume"),
        .intermediate = is(get("NNI_INCLUDE_INTERMEDIATE_RESULTS"), "true"),
    };
}

/* SPDX-License-Identifier: MIT */
/* command_helpers.h - decoding a payload that is right, or wrong. */
#ifndef TESTS_UNIT_COMMAND_HELPERS_H
#define TESTS_UNIT_COMMAND_HELPERS_H

#include "t.h"

#include "command.h"
#include "core/err.h"
#include "frame.h"

#include <stdlib.h>
#include <string.h>

/* Decodes from a block of exactly the payload's size: ASan watches its end. */
static struct command *
decode_bytes(const char *code, const char *payload, size_t len, struct err *err)
{
    char *copy = malloc(len > 0 ? len : 1);
    struct frame f = {.payload = copy, .len = len};
    struct command *cmd;

    memcpy(copy, payload, len);
    memcpy(f.code, code, 2);
    cmd = command_decode(&f, 7, err);
    free(copy);
    if (cmd != NULL)
        CHECK_EQ(cmd->arrival, 7);
    return cmd;
}

static struct command *
decode(const char *code, const char *payload)
{
    struct err err = {0};
    struct command *cmd = decode_bytes(code, payload, strlen(payload), &err);

    if (cmd == NULL)
        CHECK_STR(err.text, payload);
    return cmd;
}

static void
refuses(const char *code, const char *payload, const char *error)
{
    struct err err = {0};

    CHECK(decode_bytes(code, payload, strlen(payload), &err) == NULL);
    CHECK_EQ(err.code, ERR_INPUT);
    CHECK_STR(err.text, error);
}

/* Where, and what is wrong there; another test has what is said of it. */
static inline void
refuses_at(const char *code, const char *payload, const char *place)
{
    struct err err = {0};

    CHECK(decode_bytes(code, payload, strlen(payload), &err) == NULL);
    CHECK_EQ(err.code, ERR_INPUT);
    CHECK_EQ(strncmp(err.text, place, strlen(place)), 0);
}

#endif

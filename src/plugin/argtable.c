/* SPDX-License-Identifier: MIT */
/* The check of a plugin's argument table itself. */
#include "plugin/arguments.h"

#include "core/err.h"
#include "plugin/argvalue.h"

#include <math.h>
#include <string.h>

#define NAME_LEN_MAX 127

/* Words of letters, digits and '_', joined by single dots. */
static bool
name_is_sound(const char *name)
{
    size_t len = strlen(name);

    if (len == 0 || len > NAME_LEN_MAX || name[0] == '.' ||
        name[len - 1] == '.' || strstr(name, "..") != NULL)
        return false;
    return strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                        "0123456789_.") == len;
}

/* "a" and "a", or "a" and "a.b": the same key twice. */
static bool
names_collide(const char *a, const char *b)
{
    size_t la = strlen(a), lb = strlen(b), least = la < lb ? la : lb;

    return strncmp(a, b, least) == 0 && (a[least] == '\0' || a[least] == '.') &&
           (b[least] == '\0' || b[least] == '.');
}

static int
check_choices(const char *choices, struct err *err)
{
    size_t n = 0, len;

    for (;; choices += len + 1) {
        len = strcspn(choices, "|");
        if (len == 0 || len > ARGVALUE_CHOICE_LEN_MAX ||
            ++n > ARGVALUE_CHOICES_MAX)
            return err_set(err, ERR_CONFIG,
                           ".choices: expected 1 to %d words of 1 to %d bytes "
                           "between '|'",
                           ARGVALUE_CHOICES_MAX, ARGVALUE_CHOICE_LEN_MAX);
        if (choices[len] == '\0')
            return 0;
    }
}

static int
check_one(const struct tp_arg *arg, struct err *err)
{
    struct tp_value value = {0};
    int rc;

    if (argvalue_type_name(arg->type) == NULL)
        return err_set(err, ERR_CONFIG, ".type is %d, expected a TP_ARG_...",
                       arg->type);
    if (isnan(arg->low) || isnan(arg->high) || arg->low > arg->high)
        return err_set(err, ERR_CONFIG, "no value lies within %g..%g", arg->low,
                       arg->high);
    if (arg->doc == NULL || strchr(arg->doc, '\n') != NULL)
        return err_set(err, ERR_CONFIG, ".doc has to be one line");
    if (arg->type == TP_ARG_STRING && arg->choices != NULL &&
        check_choices(arg->choices, err) != 0)
        return -1;
    if (arg->def == NULL)
        return 0;
    rc = argvalue_default(arg, &value, err);
    argvalue_clear(&value);
    return rc;
}

int
arguments_check(const struct tp_arg *table, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        const char *name = table[i].name;

        if (name == NULL || !name_is_sound(name))
            return err_set(err, ERR_CONFIG, "argument %zu: .name is '%.80s'", i,
                           name == NULL ? "" : name);
        for (size_t k = 0; k < i; k++)
            if (names_collide(name, table[k].name))
                return err_set(err, ERR_CONFIG,
                               "argument '%s': collides with '%s'", name,
                               table[k].name);
        if (check_one(&table[i], err) != 0)
            return err_place(err, "argument '%s'", name);
    }
    return 0;
}

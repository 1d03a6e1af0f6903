/* SPDX-License-Identifier: MIT */
#include "cli/filters.h"

#include "config/experiment.h"
#include "core/err.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(OPTION_LIST_MAX <= SESSION_FILTERS_MAX &&
                   EXPERIMENT_FILTERS_MAX <= SESSION_FILTERS_MAX,
               "every filter that can be named finds a place");

static int
add(struct filters *f, struct session_setup *setup, const char *name,
    size_t name_len, const char *args, struct err *err)
{
    size_t i = setup->n_filters;

    f->names[i] = strndup(name, name_len);
    if (f->names[i] == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    f->args[i] = json_parse(args, strlen(args), JSON_UNIQUE, err);
    if (f->args[i] == NULL) {
        if (err->code == ERR_INPUT)
            err->code = ERR_USAGE;
        return err_place(err, "--filter %.64s", f->names[i]);
    }
    setup->filters[i].name = f->names[i];
    setup->filters[i].args = json_root(f->args[i]);
    setup->n_filters++;
    return 0;
}

static int
add_word(struct filters *f, struct session_setup *setup, const char *word,
         struct err *err)
{
    size_t len = strcspn(word, ":");

    if (len == 0)
        return err_set(err, ERR_USAGE,
                       "--filter: expected NAME or NAME:JSON, got '%.100s'",
                       word);
    return add(f, setup, word, len, word[len] == ':' ? word + len + 1 : "{}",
               err);
}

int
filters_read(struct filters *f, const struct option_list *words,
             const struct experiment *x, struct session_setup *setup,
             struct err *err)
{
    setup->n_filters = 0;
    for (size_t i = 0; i < words->n; i++)
        if (add_word(f, setup, words->words[i], err) != 0)
            return -1;
    if (words->n > 0 || x == NULL)
        return 0;
    for (size_t i = 0; i < x->n_filters; i++) {
        const struct algorithm *a = &x->filters[i];

        if (add(f, setup, a->name, strlen(a->name), a->args, err) != 0)
            return -1;
    }
    return 0;
}

void
filters_fini(struct filters *f)
{
    for (size_t i = 0; i < SESSION_FILTERS_MAX; i++) {
        free(f->names[i]);
        json_free(f->args[i]);
    }
    *f = (struct filters){{NULL}, {NULL}};
}

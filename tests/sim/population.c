/* SPDX-License-Identifier: MIT */
#include "sim/population.h"

#include "core/err.h"
#include "sim/game.h"

#include <inttypes.h>
#include <string.h>

/* The text under a key, up to its newline; NULL: there is none. */
static const char *
extra(const struct played *p, const char *key, size_t *len)
{
    const char *at = strstr(p->s.extras, key);

    if (at == NULL)
        return NULL;
    at += strlen(key);
    *len = strcspn(at, "\n");
    return at;
}

/* Nobody else was told to save there. */
static int
check_folder(const struct game *g, size_t i, struct err *err)
{
    const struct played *p = game_at(g, i);
    size_t len, other_len;
    const char *save = extra(p, "save_checkpoint_dir=", &len);

    if (save == NULL || extra(p, "load_checkpoint_dir=", &other_len) == NULL)
        return err_set(err, ERR_PLUGIN, "%" PRIu64 " has no folders", p->id);
    for (size_t k = 0; k < i; k++) {
        const char *other =
            extra(game_at(g, k), "save_checkpoint_dir=", &other_len);

        if (len == other_len && memcmp(save, other, len) == 0)
            return err_set(err, ERR_PLUGIN,
                           "%" PRIu64 " saves where %" PRIu64 " did: %.*s",
                           p->id, game_at(g, k)->id, (int)len, save);
    }
    return 0;
}

/* Those of the current search space that have not ended, i included. */
static size_t
count_out(const struct game *g)
{
    size_t n = 0;

    for (size_t k = game_since(g); k < game_count(g); k++)
        n += game_at(g, k)->ended == 0;
    return n;
}

static int
pbt_asked(const struct game *g, size_t i, struct err *err)
{
    const struct population *p = game_setup(g)->rules_arg;

    if (count_out(g) > p->size)
        return err_set(err, ERR_PLUGIN, "%zu trials of %zu members",
                       count_out(g), p->size);
    return check_folder(g, i, err);
}

/* Suggestions come by the population. */
static int
rounds_asked(const struct game *g, size_t i, struct err *err)
{
    const struct population *p = game_setup(g)->rules_arg;
    size_t first = (i - game_since(g)) / p->size * p->size + game_since(g);
    const struct played *at = game_at(g, i), *from;

    if (pbt_asked(g, i, err) != 0)
        return -1;
    for (size_t k = game_since(g); k < first; k++)
        if (game_at(g, k)->ended == 0)
            return err_set(err, ERR_PLUGIN,
                           "%" PRIu64 " begins a round before %" PRIu64
                           " has ended",
                           at->id, game_at(g, k)->id);
    from = game_find(g, at->s.from);
    if (from != NULL &&
        (from < game_at(g, first - p->size) || from >= game_at(g, first)))
        return err_set(err, ERR_PLUGIN,
                       "%" PRIu64 " goes on from %" PRIu64 " of another round",
                       at->id, from->id);
    return 0;
}

const struct rules rules_pbt_rounds = {
    .name = "pbt, rounds",
    .asked = rounds_asked,
};

const struct rules rules_pbt_async = {
    .name = "pbt, async",
    .turns = true,
    .asked = pbt_asked,
};

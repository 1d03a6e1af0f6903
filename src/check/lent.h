/* SPDX-License-Identifier: MIT */
/* lent.h - histories as an assessor sees them: copies that last for one call,
 * each exactly as long as it says. */
#ifndef CHECK_LENT_H
#define CHECK_LENT_H

#include "tunepipe/assessor.h"

#include <stdbool.h>

struct lent {
    struct tp_history *copies;
    const struct tp_history **list;
    size_t n;
};

/* false: out of memory.  lent_end() in any case; it says whether they are as
 * they were.  `slots`, n long, stand for those of `living`; NULL: its own. */
bool lent_begin(struct lent *l, const struct tp_history *const *living,
                size_t n, void **slots);
bool lent_end(struct lent *l, const struct tp_history *const *living);

#endif

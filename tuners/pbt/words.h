/* SPDX-License-Identifier: MIT */
/* words.h - what `tunepipe explain` says of a population. */
#ifndef PBT_WORDS_H
#define PBT_WORDS_H

#include "pbt/pbt.h"
#include "tunepipe/plugin.h"

struct words {
    const struct tp_host *host;
    const struct tp_space *space;
    const struct pbt *pbt;
};

void words_asked(const struct words *w, const struct pbt_answer *a);
void words_judged(const struct words *w, uint64_t used,
                  const struct pbt_judgement *j);

#endif

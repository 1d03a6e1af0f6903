/* SPDX-License-Identifier: MIT */
#include "check/inner.h"

const char *
inner_mood_text(enum inner_mood mood)
{
    static const char *const texts[INNER_MOODS] = {
        [INNER_GIVES] = "",
        [INNER_LATER] = "the layer inside says TP_LATER each second time",
        [INNER_DONE] = "the layer inside says TP_DONE after two points",
        [INNER_FAILS] = "the layer inside fails each third call",
    };

    return texts[mood];
}

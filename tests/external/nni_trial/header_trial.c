/* SPDX-License-Identifier: MIT */
/* The same trial through the header: C and C++. */
#include <tunepipe/trial.h>

int
main(void)
{
    double x = tp_param_double("x", -100);
    double value = (x - 1) * (x - 1) + tp_param_double("y/z", -1) / 4;

    for (int step = 2; step >= 0; step--)
        if (tp_report(value + step) != 0)
            return 1;
    return tp_final(value) != 0;
}

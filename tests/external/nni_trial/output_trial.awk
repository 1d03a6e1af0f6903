# SPDX-License-Identifier: MIT
# The same trial in awk, which knows of nobody: its output is read.
BEGIN {
    x = ENVIRON["TUNEPIPE_PARAM_x"]
    value = (x - 1) * (x - 1) + ENVIRON["TUNEPIPE_PARAM_y_z"] / 4
    for (step = 2; step >= 0; step--)
        printf "step %d loss=%.17g\n", 2 - step, value + step
}

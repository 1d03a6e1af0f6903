#!/bin/sh
# SPDX-License-Identifier: MIT
# The same trial in shell, through the verb.
x=$(tunepipe trial param x)
z=$(tunepipe trial param y/z)
for step in 2 1 0; do
    value=$(awk "BEGIN { printf \"%.17g\", ($x - 1) * ($x - 1) + $z / 4 + $step }")
    tunepipe trial report "$value"
done
tunepipe trial report --final "$value"

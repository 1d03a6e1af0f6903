# SPDX-License-Identifier: MIT
"""The same trial through our own module."""

import tunepipe

x = tunepipe.param("x")
z = tunepipe.param("y/z", -1)
assert tunepipe.params() == {"x": x, "y/z": z}
assert tunepipe.param("absent", 7) == 7
value = (x - 1) * (x - 1) + z / 4
for step in (2, 1, 0):
    tunepipe.report(value + step)
tunepipe.final({"default": value, "note": "caf\u00e9"})

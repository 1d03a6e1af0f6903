# SPDX-License-Identifier: MIT
"""python -m tunepipe is the program tunepipe."""

import os
import sys

from .link import StudyError, program

try:
    os.execv(program(), ["tunepipe"] + sys.argv[1:])
except (OSError, StudyError) as error:
    sys.exit("tunepipe: error: %s" % error)

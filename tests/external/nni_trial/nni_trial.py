# SPDX-License-Identifier: MIT
"""A trial as NNI's own examples have it."""

import nni

params = nni.get_next_parameter()
assert nni.get_next_parameter() is None
assert "%05d" % nni.get_sequence_id() == nni.get_trial_id()
value = (params["x"] - 1) * (params["x"] - 1) + params["y/z"] / 4
for step in (2, 1, 0):
    nni.report_intermediate_result(value + step)
nni.report_final_result({"default": value, "note": "caf\u00e9"})

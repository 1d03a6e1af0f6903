# SPDX-License-Identifier: MIT
"""The smallest part of NNI's trial API that speaks its file channel.

NNI itself is a large installation; what its API does with the trial's files is
little, and all a manager gets to see.  Written from the description of the
format: see src/trial/files.h.  Names and behaviour are NNI 2.7's.
"""

import json
import os
import subprocess
import time

_PLATFORM = os.environ.get("NNI_PLATFORM")
_SYS_DIR = os.environ["NNI_SYS_DIR"]
_OUTPUT_DIR = os.environ["NNI_OUTPUT_DIR"]
_TRIAL_ID = os.environ["NNI_TRIAL_JOB_ID"]

if _PLATFORM != "local" or os.environ.get("REUSE_MODE") in ("true", "True"):
    raise RuntimeError("this platform's results go to stdout")
if os.environ.get("MULTI_PHASE") in ("true", "True"):
    raise RuntimeError("a trial of several phases")

os.makedirs(os.path.join(_SYS_DIR, ".nni"), exist_ok=True)
os.makedirs(_OUTPUT_DIR, exist_ok=True)
_log = open(os.path.join(_OUTPUT_DIR, "trial.log"), "a")
# Its older versions empty the file instead of appending.
_metrics = open(os.path.join(_SYS_DIR, ".nni", "metrics"),
                os.environ.get("NNI_STAND_IN_MODE", "ab"))

_params = None
_sequence = 0


def get_next_parameter():
    """This trial's parameters; None when asked again."""
    global _params
    path = os.path.join(_SYS_DIR, "parameter.cfg")
    if _params is not None:
        return None
    if not os.path.isfile(path):
        _send({"trial_job_id": _TRIAL_ID, "type": "REQUEST_PARAMETER",
               "sequence": 0, "parameter_index": 0})
    while not (os.path.isfile(path) and os.path.getsize(path) > 0):
        time.sleep(3)
    with open(path) as file:
        _params = json.load(file)
    return _params["parameters"]


def get_experiment_id():
    return os.environ["NNI_EXP_ID"]


def get_trial_id():
    return _TRIAL_ID


def get_sequence_id():
    return int(os.environ["NNI_TRIAL_SEQ_ID"])


def report_intermediate_result(metric):
    global _sequence
    _report("PERIODICAL", _sequence, metric)
    _sequence += 1


def report_final_result(metric):
    _report("FINAL", 0, metric)


def _report(kind, sequence, metric):
    assert _params, "nni.get_next_parameter() needs to be called before"
    _send({"parameter_id": _params["parameter_id"], "trial_job_id": _TRIAL_ID,
           "type": kind, "sequence": sequence, "value": json.dumps(metric)})


def _send(record):
    data = (json.dumps(record) + "\n").encode("utf8")
    assert len(data) < 1000000, "Metric too long"
    _metrics.write(b"ME%06d%b" % (len(data), data))
    _metrics.flush()
    subprocess.run(["touch", _metrics.name], check=True)

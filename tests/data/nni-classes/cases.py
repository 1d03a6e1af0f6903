# SPDX-License-Identifier: MIT
"""Classes that tests ask for what they want to see."""
import os
import sys

import nni
from nni.assessor import AssessResult, Assessor
from nni.tuner import Tuner


def note(*words):
    with open("notes", "a") as out:
        print(*words, file=out)


class Recorder(Tuner):
    """That of NNI's test_msg_dispatcher: tells what it was told."""

    def __init__(self):
        self.param, self.results, self.space = 0, [], None

    def generate_parameters(self, parameter_id, **kwargs):
        self.param += 2
        return {"param": self.param, "trial_results": self.results,
                "search_space": self.space}

    def receive_trial_result(self, parameter_id, parameters, value, **kwargs):
        self.results.append((parameter_id, parameters["param"], value,
                             kwargs.get("customized")))

    def update_search_space(self, search_space):
        self.space = search_space


class Told(Tuner):
    """Suggests the direction that it was told."""

    def __init__(self, optimize_mode="maximize"):
        self.mode = optimize_mode

    def update_search_space(self, search_space):
        pass

    def generate_parameters(self, parameter_id, **kwargs):
        return {"mode": self.mode}


class OtherWords(Told):
    def __init__(self, optimize_mode="max"):
        self.mode = optimize_mode


class Odd(Assessor):
    """That of NNI's test_assessor: bad where the sum is odd."""

    def assess_trial(self, trial_job_id, trial_history):
        note("assess", trial_job_id, trial_history)
        return AssessResult.Bad if sum(trial_history) % 2 else True

    def trial_end(self, trial_job_id, success):
        note("end", trial_job_id, success)

    def _on_exit(self):
        note("exit")


class Moody(Tuner):
    """Does what its third suggestion, a result and an end are asked to do."""

    def __init__(self, mood="raise", first=None):
        print("made with", mood)
        if mood == "constructor":
            raise ValueError("no such\nmood")
        if mood == "exit":
            sys.exit("enough")
        self.mood, self.asked = mood, 0

    def load_checkpoint(self):
        note("checkpoint", os.environ.get("NNI_CHECKPOINT_DIRECTORY"))

    def update_search_space(self, search_space):
        if "bad" in search_space:
            raise KeyError("bad")
        note("space", sorted(search_space))

    def generate_parameters(self, parameter_id, **kwargs):
        self.asked += 1
        note("ask", parameter_id)
        if self.asked == 3 and self.mood == "raise":
            raise ValueError("not three")
        if self.asked == 3 and self.mood == "nan":
            return {"x": float("nan")}
        if self.asked == 3 and self.mood == "set":
            return {"x": {1, 2}}
        if self.asked == 3 and self.mood == "none":
            raise nni.NoMoreTrialError("no more parameters now.")
        if self.asked == 3 and self.mood == "die":
            os._exit(7)
        return {"x": self.asked}

    def receive_trial_result(self, parameter_id, parameters, value, **kwargs):
        note("result", parameter_id, parameters, value,
             kwargs["trial_job_id"])
        if value == 13:
            raise RuntimeError("thirteen")

    def trial_end(self, parameter_id, success, **kwargs):
        note("end", parameter_id, success)

    def import_data(self, data):
        note("import", data)


class First(Tuner):
    """One of NNI's first versions: nothing takes further keywords."""

    def update_search_space(self, search_space):
        pass

    def generate_multiple_parameters(self, parameter_id_list):
        return [{"x": number} for number in parameter_id_list[:2]]

    def generate_parameters(self, parameter_id):
        return {"x": parameter_id}

    def receive_trial_result(self, parameter_id, parameters, value):
        note("result", parameter_id, parameters, value)


class Pair(Tuner):
    """Has two suggestions, and a third and fourth when it has heard of the
    first, as NNI's tuners with a population: by st_callback."""

    def __init__(self, total=4):
        self.total, self.given, self.waiting = total, 0, []

    def update_search_space(self, search_space):
        pass

    def generate_parameters(self, parameter_id, **kwargs):
        if self.given == 2 or self.given >= self.total:
            self.waiting.append((parameter_id, kwargs["st_callback"]))
            raise nni.NoMoreTrialError()
        self.given += 1
        return {"x": self.given}

    def receive_trial_result(self, parameter_id, parameters, value, **kwargs):
        while self.waiting and self.given < self.total:
            number, suggest = self.waiting.pop(0)
            self.given += 1
            suggest(number, {"x": self.given})


class Silent(Assessor):
    """Forgets to answer."""

    def assess_trial(self, trial_job_id, trial_history):
        if trial_history[-1] == 13:
            raise RuntimeError("thirteen")
        return None


class NoTuner:
    def __init__(self):
        note("made")


class MsgDispatcherBase:
    pass


class Advisor(MsgDispatcherBase):
    pass

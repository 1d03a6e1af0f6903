# SPDX-License-Identifier: MIT
"""The classes of NNI's end-to-end "naive" test, by its description: x counts
from 1, and a trial is stopped where the sum of what it reported is 1 modulo
11.  What happened goes into the files `kills` and `finals`."""
from nni.assessor import AssessResult, Assessor
from nni.tuner import Tuner


def note(name, *words):
    with open(name, "a") as out:
        print(*words, file=out)


class NaiveTuner(Tuner):
    def __init__(self, optimize_mode="maximize"):
        self.x = 0

    def update_search_space(self, search_space):
        print("the search space is", search_space)  # not into the frames

    def generate_parameters(self, parameter_id, **kwargs):
        self.x += 1
        return {"x": self.x}

    def receive_trial_result(self, parameter_id, parameters, value, **kwargs):
        note("finals", parameters["x"], value)


class NaiveAssessor(Assessor):
    def assess_trial(self, trial_job_id, trial_history):
        if sum(trial_history) % 11 != 1:
            return AssessResult.Good
        note("kills", trial_history[0], len(trial_history))
        return AssessResult.Bad

# SPDX-License-Identifier: MIT
"""What assessors are derived from."""
import enum


class AssessResult(enum.Enum):
    Good = True
    Bad = False


class Assessor:
    def assess_trial(self, trial_job_id, trial_history):
        raise NotImplementedError("assess_trial")

    def trial_end(self, trial_job_id, success):
        pass

    def load_checkpoint(self):
        pass

    def _on_exit(self):
        pass

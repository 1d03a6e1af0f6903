# SPDX-License-Identifier: MIT
"""What tuners are derived from."""


class Tuner:
    def generate_parameters(self, parameter_id, **kwargs):
        raise NotImplementedError("generate_parameters")

    def generate_multiple_parameters(self, parameter_id_list, **kwargs):
        raise NotImplementedError("tunepipe asks for one after the other")

    def receive_trial_result(self, parameter_id, parameters, value, **kwargs):
        raise NotImplementedError("receive_trial_result")

    def update_search_space(self, search_space):
        raise NotImplementedError("update_search_space")

    def trial_end(self, parameter_id, success, **kwargs):
        pass

    def import_data(self, data):
        pass

    def load_checkpoint(self):
        pass

    def _on_exit(self):
        pass

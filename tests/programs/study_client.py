# SPDX-License-Identifier: MIT
"""A client of a study's socket, line by line as tunepipe-study(7) has them, for
the tests of its server."""
import json
import os
import socket
import subprocess

TUNEPIPE = os.path.join(os.environ["TP_BUILD"], "tunepipe")


def serve(folder, *options):
    subprocess.run([TUNEPIPE, "study", folder, "--serve", *options],
                   check=True)


def manager(folder):
    with open(os.path.join(folder, "manager.pid")) as file:
        return int(file.read())


class Client:
    def __init__(self, folder, *options, begin=True):
        if begin:
            serve(folder, *options)
        self.folder = folder
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(os.path.join(folder, "control"))
        self.file = self.socket.makefile("rw")

    def send(self, command, **keys):
        self.file.write(json.dumps(dict(keys, command=command)) + "\n")
        self.file.flush()

    def receive(self):
        return json.loads(self.file.readline())

    def try_(self, command, **keys):
        self.send(command, **keys)
        return self.receive()

    def __call__(self, command, **keys):
        said = self.try_(command, **keys)
        if "answer" not in said:
            raise SystemExit("%s %s: %s" % (command, keys, said))
        return said["answer"]

    def kill_server(self):
        """And waits until it is gone."""
        os.kill(manager(self.folder), 9)
        assert self.file.readline() == ""

    def close(self):
        self.file.close()
        self.socket.close()

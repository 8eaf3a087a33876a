"""A process in the place of a fork: `python -IS stand_in.py ADDRESS IMPORTS PROGRAM ARGUMENTS`.

Whoever starts programs itself cannot be given a fork. It starts this instead, in a hundredth of the
time that importing takes, and this waits for the fork that has its input, its output and its end.
"""

import json
import os
import signal
import socket
import struct
import sys

NUMBER = struct.Struct("!i")  # as in the server, from which nothing is imported here


def main(address: str, imports: str, *arguments: str) -> int:
    request = {
        "arguments": arguments,
        "folder": os.getcwd(),  # noqa: PTH109 - importing pathlib takes as long as all else
        "environment": dict(os.environ),  # noqa: TID251 - the fork gets it
        "imports": imports.split(",") if imports else [],
    }
    waiting, telling = socket.socketpair()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
        server.connect("\0" + address)
        socket.send_fds(server, [json.dumps(request).encode()], [0, 1, 2, telling.fileno()])
    for each in (0, 1, 2):
        os.close(each)  # or its pipes would stay open when it has ended
    telling.close()
    waiting.recv(NUMBER.size)
    told = waiting.recv(NUMBER.size)
    return NUMBER.unpack(told)[0] if told else -signal.SIGKILL


if __name__ == "__main__":
    os._exit(main(*sys.argv[1:]) % 256)

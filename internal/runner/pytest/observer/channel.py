"""The stream of records to Touchstone: one JSON object a line.

Standard library only; Python 3.7 and later.
"""

import json
import os
import re


class Channel:
    """Writes records. Silent in xdist's workers, where the environment names no
    report, and in forked children."""

    def __init__(self):
        self.fd = None
        self.pid = None

    def open(self):
        path = os.environ.pop("TOUCHSTONE_REPORT", None)
        if path is None:
            return
        inherited = re.match(r"/(?:dev|proc/self)/fd/(\d+)$", path)
        self.fd = int(inherited.group(1)) if inherited else os.open(path, os.O_WRONLY | os.O_APPEND)
        # A process that outlives the session must not hold the stream open.
        os.set_inheritable(self.fd, False)
        self.pid = os.getpid()

    def send(self, kind, **fields):
        if self.fd is None or os.getpid() != self.pid:
            return
        data = (json.dumps(dict(fields, kind=kind), default=str) + "\n").encode("ascii")
        try:
            while data:
                data = data[os.write(self.fd, data) :]
        except OSError:  # a test closed it: the missing finish record tells
            self.fd = None


channel = Channel()


def plain(value):
    """Data as ASCII text: what rides on a report must survive any transport."""
    return json.dumps(value, default=str)

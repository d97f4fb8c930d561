"""A local server of SFTP, paramiko's: it shows this machine's files to whoever has a key."""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import paramiko


class _AnyKey(paramiko.ServerInterface):
    def check_auth_publickey(self, username, key):
        return paramiko.AUTH_SUCCESSFUL

    def get_allowed_auths(self, username):
        return "publickey"

    def check_channel_request(self, kind, chanid):
        return paramiko.OPEN_SUCCEEDED


class _Files(paramiko.SFTPServerInterface):
    def list_folder(self, path):
        entries = []
        for name in os.listdir(path):
            attributes = paramiko.SFTPAttributes.from_stat(os.stat(os.path.join(path, name)))
            attributes.filename = name
            entries.append(attributes)
        return entries

    def stat(self, path):
        try:
            return paramiko.SFTPAttributes.from_stat(os.stat(path))
        except OSError as error:
            return paramiko.SFTPServer.convert_errno(error.errno)

    lstat = stat

    def open(self, path, flags, attr):
        handle = _OpenFile(flags)
        handle.readfile = open(path, "rb")  # noqa: SIM115 - paramiko closes it
        handle.filename = path
        return handle


class _OpenFile(paramiko.SFTPHandle):
    def stat(self):
        return paramiko.SFTPAttributes.from_stat(os.fstat(self.readfile.fileno()))


@contextmanager
def serving_files() -> Iterator[int]:
    """Runs a server; its port."""
    listener = socket.create_server(("127.0.0.1", 0))
    host_key, transports = paramiko.RSAKey.generate(2048), []

    def serve() -> None:
        with suppress(OSError):
            while True:
                transport = paramiko.Transport(listener.accept()[0])
                transports.append(transport)
                transport.add_server_key(host_key)
                transport.set_subsystem_handler("sftp", paramiko.SFTPServer, _Files)
                transport.start_server(server=_AnyKey())

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for transport in transports:
            transport.close()

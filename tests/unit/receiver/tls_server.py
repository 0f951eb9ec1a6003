#!/usr/bin/env python3
"""tls_server.py CERTIFICATE KEY MODE: a TLS server on a free port of 127.0.0.1, which it prints.

Runs until its stdin ends. MODE: "answer" gives 200 null to every request, "cut" closes each connection inside the
handshake, "lose" reads each request whole and closes.
"""
import socket
import ssl
import sys
import threading


def read_request(stream):
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        line = stream.readline()
        if not line:
            return False
        head += line
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            stream.read(int(line.split(b":")[1]))
    return True


def serve(plain, context, mode):
    try:
        if mode == "cut":
            plain.recv(5)
            plain.close()
            return
        with context.wrap_socket(plain, server_side=True) as secure:
            stream = secure.makefile("rb")
            while read_request(stream) and mode == "answer":
                secure.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnull")
    except OSError:
        pass


def main():
    certificate, key, mode = sys.argv[1:]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    print(listener.getsockname()[1], flush=True)

    def accept_all():
        while True:
            plain, _ = listener.accept()
            threading.Thread(target=serve, args=(plain, context, mode), daemon=True).start()

    threading.Thread(target=accept_all, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main()

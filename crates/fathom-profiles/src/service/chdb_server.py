"""Serves the ClickHouse engine of Python's chdb over the HTTP interface of a ClickHouse server.

Arguments: data directory, port. The statement is in the body, the URL's query, or both joined, as
ClickHouse has it; the answer is TabSeparated unless default_format or FORMAT says otherwise.
"""

import http.server
import os
import sys
import urllib.parse

from chdb import session


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body, kind="text/plain; charset=UTF-8"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def statement(self, body):
        url = urllib.parse.urlsplit(self.path)
        values = urllib.parse.parse_qs(url.query)
        form = values.get("default_format", ["TabSeparated"])[0]
        query = values.get("query", [""])[0]
        text = "\n".join(part for part in (query, body) if part.strip())
        database = values.get("database", [""])[0]
        return text, form, database

    def run(self, body):
        text, form, database = self.statement(body)
        if not text.strip():
            self.answer(200, b"Ok.\n")
            return
        try:
            if database:
                self.server.engine.query("USE `%s`" % database.replace("`", ""))
            result = self.server.engine.query(text, form)
            self.answer(200, result.bytes() if result is not None else b"")
        except Exception as error:  # the engine's words, whatever they are, are the answer
            self.answer(500, (str(error) + "\n").encode())

    def do_GET(self):
        if self.path == "/ping":
            self.answer(200, b"Ok.\n")
        else:
            self.run("")

    def do_POST(self):
        length = int(self.headers.get("Content-Length") or 0)
        self.run(self.rfile.read(length).decode())

    def log_message(self, *_):
        pass


def main():
    data, port = sys.argv[1], int(sys.argv[2])
    os.makedirs(data, exist_ok=True)
    # One at a time: the engine has one session.
    server = http.server.HTTPServer(("127.0.0.1", port), Handler)
    server.engine = session.Session(data)
    server.serve_forever()


main()

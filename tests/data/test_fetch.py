"""Fetching over a server on loopback that behaves as badly as servers do."""

import contextlib
import hashlib
import io
import re
import resource
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import huggingface_hub.constants
import numpy as np
import pytest
import requests

from sci_book.data import datasets, download, fetch
from tests.data import formats

CONTENT = np.random.default_rng(0).bytes(300_000)
MD5 = hashlib.md5(CONTENT).hexdigest()


class Server(ThreadingHTTPServer):
    """Serves `content`; each request takes the next behaviour of `plan`, the last one for ever."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.content, self.plan, self.asked, self.tag = CONTENT, ["good"], [], '"one"'
        self.address = f"http://127.0.0.1:{self.server_port}/set.tsv"

    def handle_error(self, request, client_address):
        pass  # a client that hangs up is the point of half of these tests


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        plan, content = self.server.plan, self.server.content
        behaviour, _, value = (plan.pop(0) if len(plan) > 1 else plan[0]).partition(" ")
        self.server.asked.append((self.path, self.headers.get("Range")))
        if behaviour == "redirect":
            return self.answer(302, b"", Location=value)
        if behaviour == "status":
            return self.answer(int(value), b"no", **{"Retry-After": "0"})
        if behaviour == "packed":
            return self.answer(200, content, **{"Content-Encoding": "gzip"})
        first = self.first_byte() if behaviour != "ignorant" else 0
        total, marks = len(content), {"ETag": self.server.tag}
        if first and first >= total:
            return self.answer(416, b"", **{"Content-Range": f"bytes */{total}"})
        if first:
            shown = first + 7 if behaviour == "shifted" else first
            marks["Content-Range"] = f"bytes {shown}-{total - 1}/{total}"
        body = content[first:]
        if behaviour == "unmarked":
            marks.pop("ETag")
        if behaviour == "endless":
            return self.answer(200, body * 2, length=None, **marks)
        sent = body[: int(value)] if behaviour in ("dies", "unmarked") else body
        if behaviour == "silent":
            sent = body[:1000]
        slowly = behaviour == "slow"
        self.answer(206 if first else 200, sent, length=len(body), slowly=slowly, **marks)
        if behaviour == "silent":
            time.sleep(1.5)

    def first_byte(self):
        found = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        same = self.headers.get("If-Range") in (None, self.server.tag)
        return int(found[1]) if found and same else 0

    def answer(self, status, body, *, length=0, slowly=False, **headers):
        self.send_response(status)
        if length is not None:
            self.send_header("Content-Length", str(length or len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        for start in range(0, len(body), 1 if slowly else len(body) or 1):
            self.wfile.write(body[start : start + (1 if slowly else len(body))])
            if slowly:
                time.sleep(0.02)


@pytest.fixture
def server():
    with Server() as made:
        threading.Thread(target=made.serve_forever, args=(0.01,), daemon=True).start()
        yield made
        made.shutdown()


@pytest.fixture
def world(server, tmp_path, monkeypatch):
    """A manifest `set` whose address is the server, in a repository of its own."""
    monkeypatch.setattr(datasets, "MANIFESTS", tmp_path / "manifests")
    monkeypatch.setattr(datasets, "HOME", tmp_path)
    monkeypatch.setattr(download, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(download, "ENOUGH", 1000)
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    (tmp_path / "manifests").mkdir()
    describe(tmp_path, server.address)
    return tmp_path / "data"


def describe(root, address, checksum=MD5, **keys):
    formats.write_manifest(
        root / "manifests", "set", "set.tsv", 1, formats.MME_COLUMNS, format="tsv",
        pictures="base64", question_type="yesno", address=address, checksum={"md5": checksum},
        **keys,
    )  # fmt: skip


def files(folder):
    return sorted(path.name for path in folder.iterdir() if not path.name.endswith(".lock"))


def refused(match, source=None):
    with pytest.raises(fetch.FetchError, match=match) as caught:
        fetch.fetch("set", source)
    assert "\n" not in str(caught.value)


def test_fetched_once_and_then_never_asked_again(server, world):
    assert fetch.fetch("set") == (world / "set.tsv", False, "md5")
    assert (world / "set.tsv").read_bytes() == CONTENT
    server.shutdown()
    assert fetch.fetch("set").was_here
    assert files(world) == ["set.tsv"] and server.asked == [("/set.tsv", None)]


@pytest.mark.parametrize(
    ("plan", "ranges"),
    [
        (["dies 100000", "good"], [None, "bytes=100000-"]),
        (["dies 100000", "dies 70000", "dies 1", "good"],
         [None, "bytes=100000-", "bytes=170000-", "bytes=170001-"]),
        (["dies 100000", "ignorant"], [None, "bytes=100000-"]),
        (["dies 100000", "shifted", "good"], [None, "bytes=100000-", None]),
        # Nothing says that the rest would be of the same file.
        (["unmarked 100000", "good"], [None, None]),
        (["status 503", "status 429", "good"], [None] * 3),
        (["dies 100000", "status 500", "good"], [None, "bytes=100000-", "bytes=100000-"]),
    ],
)  # fmt: skip
def test_a_broken_transfer_goes_on_where_it_stopped(server, world, plan, ranges):
    server.plan = plan
    fetch.fetch("set")
    assert (world / "set.tsv").read_bytes() == CONTENT
    assert [asked for _, asked in server.asked] == ranges
    assert files(world) == ["set.tsv"]


@pytest.mark.parametrize("tag", ['"one"', '"two"'])
def test_a_later_call_goes_on_or_begins_again_where_the_file_changed(tag, server, world):
    server.plan = ["dies 100000", "status 500"]
    refused(r"given up after 5 attempts.*answers 500.*100,000 bytes are kept")
    assert files(world) == ["set.tsv.part", "set.tsv.part.validator"]
    server.asked.clear()
    server.plan, server.tag = ["good"], tag
    assert not fetch.fetch("set").was_here
    assert server.asked == [("/set.tsv", "bytes=100000-")]
    assert (world / "set.tsv").read_bytes() == CONTENT


def test_a_part_that_was_whole_already_is_only_verified(server, world):
    world.mkdir()
    (world / "set.tsv.part").write_bytes(CONTENT)
    (world / "set.tsv.part.validator").write_text(server.tag)
    fetch.fetch("set")
    assert server.asked == [("/set.tsv", "bytes=300000-")] and files(world) == ["set.tsv"]


@pytest.mark.parametrize("behaviour", ["slow", "silent"])
def test_a_connection_that_hardly_moves_is_given_up(behaviour, server, world, monkeypatch):
    monkeypatch.setattr(download, "SILENT_SECONDS", 0.3)
    server.plan = [behaviour, "good"]
    fetch.fetch("set")
    (_, first), (_, second) = server.asked
    assert first is None and re.fullmatch(r"bytes=\d+-", second)
    assert (world / "set.tsv").read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("plan", "sentence", "kept"),
    [
        (["status 404"], r"answers 404 .* may have changed: download .*--from", []),
        (["status 403"], "answers 403", []),
        (["packed"], r"sends the file packed \(gzip\)", []),
        (["redirect /set.tsv"], "redirects more than 5 times", []),
        (["redirect ftp://127.0.0.1/set.tsv"], "redirects to ftp.*not encrypted", []),
        (["endless"], f"md5 checksum [0-9a-f]+; set has {MD5}. It was removed", []),
        (["dies 999"], "given up after 5 attempts", ["set.tsv.part", "set.tsv.part.validator"]),
    ],
)
def test_what_cannot_be_fetched_is_one_sentence(server, world, plan, sentence, kept):
    server.plan = plan
    # Less than `ENOUGH` new bytes an attempt do not count as progress.
    refused(sentence)
    assert files(world) == kept


def test_wrong_content_never_gets_the_final_name(server, world):
    server.content = CONTENT[:-1] + b"!"
    refused(f"md5 checksum .*; set has {MD5}. It was removed; fetch again")
    assert files(world) == []
    describe(world.parent, server.address, size=299_999)
    refused("has 300,000 bytes; set has 299,999")
    describe(world.parent, server.address, size=200_000)
    server.plan = ["endless"]
    refused("sends more bytes than it has")
    assert files(world) == []


def test_a_redirect_to_another_host_needs_a_checksum(server, world):
    elsewhere = server.address.replace("127.0.0.1", "localhost") + "?signature=secret"
    server.plan = [f"redirect {elsewhere}", "good"]
    assert fetch.fetch("set").verified == "md5"
    (world / "set.tsv").unlink()
    describe(world.parent, server.address, checksum=None)
    refused("is not encrypted and the manifest of set knows no checksum")


def test_without_a_checksum_only_one_host_over_https_is_trusted(world, monkeypatch):
    describe(world.parent, "https://one.example/set.tsv", checksum=None)
    answers = []

    def get(self, address, **settings):
        assert settings["allow_redirects"] is False
        response = requests.Response()
        response.status_code, response.url = 302, address
        response._content_consumed, response.raw = True, io.BytesIO()
        response.headers["Location"] = answers[0]
        return response

    monkeypatch.setattr(requests.Session, "get", get)
    for target, sentence in (
        ("https://two.example/set.tsv?key=secret", "is another host, and .* knows no checksum"),
        ("http://one.example/set.tsv", "is not encrypted"),
    ):
        answers[:] = [target]
        refused(f"redirects to {urlsplit(target).scheme}://\\w+.example/set.tsv, which {sentence}")


def test_no_login_is_sent(server, world, monkeypatch, tmp_path):
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    seen = []
    monkeypatch.setattr(
        Handler, "first_byte", lambda self: seen.append(self.headers.get("Authorization")) or 0
    )
    fetch.fetch("set")
    assert seen == [None]


def test_a_server_that_is_not_there(world):
    describe(world.parent, "http://127.0.0.1:9/set.tsv")
    refused("given up after 5 attempts in a row .the connection broke")


def test_from_a_file_or_a_folder(server, world, tmp_path):
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    refused("neither a file nor a folder that holds set.tsv", mirror)
    (mirror / "set.tsv").write_bytes(CONTENT[:100])
    refused("md5 checksum", mirror)
    (mirror / "set.tsv").write_bytes(CONTENT)
    assert fetch.fetch("set", mirror).verified == "md5"
    (world / "set.tsv").unlink()
    (mirror / "set.tsv").rename(mirror / "other name")
    fetch.fetch("set", mirror / "other name")
    assert (world / "set.tsv").read_bytes() == CONTENT
    assert files(world) == ["set.tsv"] and server.asked == []


def test_a_wrong_file_already_there_is_left_alone(world):
    world.mkdir()
    (world / "set.tsv").write_bytes(b"mine")
    refused("Move it away and fetch again")
    assert (world / "set.tsv").read_bytes() == b"mine"


@contextlib.contextmanager
def largest_file(size):
    """The system writes no file beyond this size: a real error, as of a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_stops_cleanly_and_the_rest_comes_later(server, world, monkeypatch):
    server.content = CONTENT * 10
    describe(world.parent, server.address, hashlib.md5(server.content).hexdigest())
    with largest_file(2_000_000):  # of three megabytes
        refused(r"set.tsv.part cannot be written .*kept; make room")
    kept = (world / "set.tsv.part").stat().st_size
    assert 0 < kept <= 2_000_000 and "set.tsv" not in files(world)
    usage = download.shutil.disk_usage(world)
    monkeypatch.setattr(download.shutil, "disk_usage", lambda path: usage._replace(free=10))
    refused("has room for 10 bytes, and [0-9,]+ are to come")
    monkeypatch.undo()
    monkeypatch.setattr(datasets, "MANIFESTS", world.parent / "manifests")
    monkeypatch.setattr(datasets, "HOME", world.parent)
    fetch.fetch("set")
    assert server.asked[-1] == ("/set.tsv", f"bytes={kept}-")
    assert (world / "set.tsv").read_bytes() == server.content


def test_a_full_disk_is_told_by_its_sentence_in_a_small_file_too(tmp_path):
    (tmp_path / "set.tsv").write_bytes(bytes(5_000))
    with (
        largest_file(1_000),
        pytest.raises(fetch.FetchError, match=r"set.tsv.part cannot be written .*make room"),
    ):
        fetch._copy(tmp_path / "set.tsv", tmp_path / "set.tsv.part")


def test_two_fetches_at_once(server, world):
    world.mkdir()
    with fetch.FileLock(world / ".set.tsv.lock"):
        refused("Another fetch of .* is at work")
    fetch.fetch("set")


def test_twins_and_collections_are_not_fetched(world, tmp_path):
    (tmp_path / "manifests" / "all.yaml").write_text("parts: [set]\n")
    (tmp_path / "manifests" / "twin.yaml").write_text("twin_of: set\n")
    with pytest.raises(fetch.FetchError, match="all is several data sets; fetch set"):
        fetch.fetch("all")
    with pytest.raises(fetch.FetchError, match="drawn here: `sci data make`"):
        fetch.fetch("twin")


# --- the hub ------------------------------------------------------------------------------------


class HubHandler(BaseHTTPRequestHandler):
    """As much of the hub as a download of one file asks for."""

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.do_GET(body=False)

    def do_GET(self, body=True):
        good = self.path == "/datasets/ViLP/ViLP/resolve/main/set.tsv"
        self.send_response(200 if good else 404)
        self.send_header("Content-Length", str(len(CONTENT) if good else 0))
        self.send_header("ETag", f'"{MD5}"')
        self.send_header("X-Repo-Commit", "0" * 40)
        self.end_headers()
        if good and body:
            self.wfile.write(CONTENT)


def test_a_file_of_the_hub(world, tmp_path, monkeypatch):
    describe(tmp_path, "hf://datasets/ViLP/ViLP/set.tsv", checksum=None)
    refused("asked only if you allow it: set HF_HUB_OFFLINE=0 for this command")
    with ThreadingHTTPServer(("127.0.0.1", 0), HubHandler) as hub:
        threading.Thread(target=hub.serve_forever, args=(0.01,), daemon=True).start()
        endpoint = f"http://127.0.0.1:{hub.server_port}"
        for name, value in {
            "HF_HUB_OFFLINE": False,
            "HF_HUB_DISABLE_XET": True,
            "ENDPOINT": endpoint,
            "HUGGINGFACE_CO_URL_TEMPLATE": endpoint + "/{repo_id}/resolve/{revision}/{filename}",
            "HF_HUB_CACHE": str(tmp_path / "cache"),
        }.items():
            monkeypatch.setattr(huggingface_hub.constants, name, value)
        assert fetch.fetch("set") == (world / "set.tsv", False, None)
        describe(tmp_path, "hf://datasets/ViLP/ViLP/absent.tsv", checksum=None)
        (world / "set.tsv").unlink()
        refused("does not come from the hub .*; download the file by other means")
        hub.shutdown()

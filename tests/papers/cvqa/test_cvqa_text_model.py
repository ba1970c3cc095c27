"""The text-model interface against a server on this machine, and a tiny model of its own."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from sci_book.papers.cvqa.annotation import Source, annotate
from sci_book.papers.shared import text_model
from sci_book.papers.shared.text_model import (
    LONGEST_WAIT,
    MOST_BYTES,
    Completion,
    Endpoint,
    LocalTextModel,
    TextModel,
    json_object,
)

KEY = "a-secret-of-this-test"


def chat(text):
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]})


@pytest.fixture
def server():
    """A loopback server that answers request by request from a script of (status, headers, body).

    The last entry is repeated. A body may be a function that writes to the connection itself.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            length = int(self.headers["Content-Length"])
            where.seen.append((self.path, dict(self.headers), json.loads(self.rfile.read(length))))
            number = min(len(where.seen), len(where.script)) - 1
            status, headers, body = where.script[number]
            if callable(body):
                body(self)
                return
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_):
            pass

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False

        def handle_error(self, *_):
            pass  # the client hung up, which some of these tests are about

    where = Quiet(("127.0.0.1", 0), Handler)
    where.seen, where.script = [], [(200, {}, chat("hello"))]
    where.url = f"http://127.0.0.1:{where.server_address[1]}/v1"
    thread = threading.Thread(target=where.serve_forever, args=(0.02,))
    thread.start()
    yield where
    where.shutdown()
    where.server_close()
    thread.join()


@pytest.fixture
def endpoint(server, monkeypatch):
    """Makes an endpoint that does not wait, with other constants, and the list of its waits."""
    monkeypatch.setattr(text_model, "KEY_VARIABLE", "A_KEY")

    def make(**constants):
        waits = []
        for name, value in {"sleep": waits.append, **constants}.items():
            monkeypatch.setattr(text_model, name, value)
        return Endpoint(server.url, "tester"), waits

    return make


def test_a_completion_and_what_is_asked(server, monkeypatch, endpoint):
    monkeypatch.setenv("A_KEY", KEY)
    model, _ = endpoint(MAX_TOKENS=7)
    assert isinstance(model, TextModel)
    assert model.complete(["Say hello."]) == [Completion("hello", None, 1)]
    ((path, headers, body),) = server.seen
    assert path == "/v1/chat/completions" and headers["Authorization"] == f"Bearer {KEY}"
    assert body["messages"] == [{"role": "user", "content": "Say hello."}]
    assert (body["model"], body["max_tokens"], body["temperature"]) == ("tester", 7, 0)


def test_no_key_no_header(server, monkeypatch, endpoint):
    monkeypatch.delenv("A_KEY", raising=False)
    endpoint()[0].complete(["x"])
    assert "Authorization" not in server.seen[0][1]


def test_the_key_is_nowhere_else(server, monkeypatch, endpoint):
    monkeypatch.setenv("A_KEY", KEY)
    server.script = [(401, {}, json.dumps({"error": f"bad key {KEY}"}))]
    model, _ = endpoint()
    (failed,) = model.complete(["x"])
    assert KEY not in repr((failed, vars(model)))
    assert failed == Completion(None, "HTTP 401", 1)


@pytest.mark.parametrize("bad", [KEY + "\nX: y", KEY + "é", KEY + "\x07"])
def test_a_key_that_no_header_can_carry_is_not_quoted(server, monkeypatch, bad, endpoint):
    monkeypatch.setenv("A_KEY", bad)
    with pytest.raises(ValueError, match="The key in A_KEY holds characters") as raised:
        endpoint()[0].complete(["x"])
    assert KEY not in str(raised.value) and not server.seen


def test_answers_keep_their_order(server, endpoint):
    def echo(handler):
        prompt = server.seen[-1][2]["messages"][0]["content"]
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(chat(prompt).encode())

    server.script = [(200, {}, echo)]
    model, _ = endpoint(PARALLEL=1)
    prompts = [f"prompt {i}" for i in range(12)]
    assert [c.text for c in model.complete(prompts)] == prompts
    assert model.complete([]) == []


@pytest.mark.parametrize(
    ("header", "then", "expected", "waited"),
    [
        ("3", [(503, {}, ""), (200, {}, chat("late"))], Completion("late", None, 3), [3.0, 2.0]),
        ("86400", [], Completion(None, "HTTP 429 (attempt 4 of 4)", 4), [LONGEST_WAIT] * 3),
        *(
            (odd, [(200, {}, chat("ok"))], Completion("ok", None, 2), [1.0])
            for odd in ("Wed, 21 Oct 2026 07:28:00 GMT", "-5", "nan", "soon")
        ),
    ],
)
def test_429_is_asked_again_after_the_time_named(server, endpoint, header, then, expected, waited):
    server.script = [(429, {"Retry-After": header}, ""), *then]
    model, waits = endpoint(**({} if then else {"ATTEMPTS": 4}))
    assert model.complete(["x"]) == [expected] and waits == waited
    assert len(server.seen) == expected.attempts


def test_a_silent_server_times_out(server, endpoint):
    server.script = [(200, {}, lambda handler: time.sleep(0.6))]
    model, _ = endpoint(TIMEOUT=0.2, ATTEMPTS=2)
    assert model.complete(["x"]) == [Completion(None, "no answer within 0.2 s (attempt 2 of 2)", 2)]


def test_a_dripping_server_times_out(server, endpoint):
    def drip(handler):
        handler.send_response(200)
        handler.end_headers()
        for _ in range(40):
            handler.wfile.write(b" ")
            time.sleep(0.05)

    server.script = [(200, {}, drip)]
    model, _ = endpoint(TIMEOUT=0.3, ATTEMPTS=1)
    start = time.monotonic()
    assert "no answer within" in model.complete(["x"])[0].error
    assert time.monotonic() - start < 2


NO_COMPLETIONS = [
    "Sorry, I cannot.", "{", "[]", "{}", json.dumps({"choices": []}), "[" * 100_000, "\x00", "null",
    json.dumps({"choices": [{"message": {"content": None}}]}), "x" * (MOST_BYTES + 1),
]  # fmt: skip


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [(307, "", "HTTP 307"), *((200, body, "the response ") for body in NO_COMPLETIONS)],
)
def test_what_another_request_would_not_mend_is_asked_once(server, endpoint, status, body, error):
    """A redirect, which is not followed, and responses that are too long or no completion."""
    server.script = [(status, {"Location": f"{server.url}/elsewhere"}, body)]
    (failed,) = endpoint()[0].complete(["x"])
    assert failed.text is None and failed.error.startswith(error)
    assert ("longer than" in failed.error) == (len(body) > MOST_BYTES)
    assert failed.attempts == len(server.seen) == 1


def test_a_server_that_is_not_there_is_asked_again_and_named(server, endpoint):
    server.shutdown()
    server.server_close()
    model, waits = endpoint(ATTEMPTS=3)
    (failed,) = model.complete(["x"])
    assert "connection failed" in failed.error and failed.attempts == 3 and waits == [1.0, 2.0]


def test_a_body_in_chunks(server, endpoint):
    def chunks(handler):
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for piece in (chat("in pieces")[:9], chat("in pieces")[9:], ""):
            handler.wfile.write(f"{len(piece):x}\r\n{piece}\r\n".encode())

    server.RequestHandlerClass.protocol_version = "HTTP/1.1"
    server.script = [(200, {}, chunks)]
    assert endpoint()[0].complete(["x"])[0].text == "in pieces"


@pytest.mark.parametrize("url", ["http://models.example/v1", "ftp://localhost", "localhost:80", ""])
def test_a_key_goes_over_https_only(url):
    with pytest.raises(ValueError, match="begins with https"):
        Endpoint(url, "tester")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1}', {"a": 1}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('Here it is: {"a": 1}', None),
        ('{"a": 1} I hope this helps.', None),
        ("[1]", None),
        ("{'a': 1}", None),
        ("", None),
        ("``````", None),
        ("[" * 100_000, None),
    ],
)
def test_a_json_object_is_found_in_a_reply(text, found):
    assert json_object(text) == found


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    folder = tmp_path_factory.mktemp("local") / "tiny-text"
    words = {w: i for i, w in enumerate(["<pad>", "</s>", "<unk>", *"abcdefghijklmnopqrstuvwxyz"])}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    ).save_pretrained(folder)
    LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(words), hidden_size=16, intermediate_size=16, num_hidden_layers=2,
            num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=32,
            pad_token_id=0, eos_token_id=1, bos_token_id=None,
        )
    ).save_pretrained(folder)  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_model, "MAX_NEW_TOKENS", 4)
        patch.setattr(text_model, "BATCH", 3)
        yield LocalTextModel(str(folder))


def test_a_local_model_writes_the_same_alone_and_in_company(local):
    assert isinstance(local, TextModel) and local.name == "tiny-text"
    prompts = ["abc", "z", "the quick", "mno"]
    together = local.complete(prompts)
    assert together == [local.complete([prompt])[0] for prompt in prompts]
    assert all(c.error is None and len(c.text.split()) <= 4 for c in together)


def test_a_prompt_beyond_the_context_fails_alone(local):
    long, short = local.complete(["a" * 40, "abc"])
    assert long == Completion(None, "40 tokens and 4 new ones exceed 32", 0)
    assert short.text is not None


def test_an_annotation_over_an_endpoint_counts_its_failures(server, endpoint):
    """Prose, then 429 for ever: both sources are counted, neither is guessed."""
    server.script = [(200, {}, chat("What a lovely question!")), (429, {}, "")]
    model, _ = endpoint(PARALLEL=1, ATTEMPTS=2)
    sources = [Source("How many cats are there?", "1"), Source("How many dogs are there?", "2")]
    items, rejected = annotate(model, sources, "direct")
    assert items == [] and rejected == {"not in the form asked for": 1, "no completion": 1}

"""One interface to a text model: an endpoint, a model on this machine, or a caller's own rules.

A completion that failed carries its reason and no text: the caller counts it and guesses nothing.
The key of an endpoint is read when a request is sent; no attribute, message or record carries it.
"""

import json
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from time import monotonic, sleep
from typing import NamedTuple, Protocol, runtime_checkable
from urllib.parse import urlsplit

import requests
import torch
import urllib3

from sci_book.data.catalogue import model_name
from sci_core.families.files import hub_settings

KEY_VARIABLE = "OPENAI_API_KEY"
TIMEOUT = 60.0  # seconds for one whole request, its answer included
ATTEMPTS = 5  # requests for one prompt at most
LONGEST_WAIT = 60.0  # seconds between two attempts, whatever an endpoint asks for
PARALLEL = 4  # requests under way at once
MAX_TOKENS = 512  # of an endpoint's answer
MOST_BYTES = 1 << 20  # of one response
MAX_NEW_TOKENS = 256  # of a local model's answer
BATCH = 8  # prompts of a local model in one pass, padded on the left
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Completion(NamedTuple):
    """What a text model wrote, or why there is nothing.

    `text` is None exactly where `error` is not. `attempts` counts the requests that were sent.
    """

    text: str | None
    error: str | None = None
    attempts: int = 1


@runtime_checkable
class TextModel(Protocol):
    """Whatever continues a prompt. `name` stands in tables beside the results."""

    name: str

    def complete(self, prompts: Sequence[str]) -> list[Completion]:
        """One completion a prompt, in order. A failure is a completion, never an exception."""
        ...


def text_model(name: str, url: str = "") -> TextModel | None:
    """The text model that a parameter names: a folder or hub id, or, with a `url`, a name that
    this OpenAI-compatible endpoint knows; none for the empty name.
    """
    if not name:
        return None
    return Endpoint(url, name) if url else LocalTextModel(name)


class _Refused(Exception):
    """A request that another attempt would not mend."""


class _Busy(Exception):
    """A request worth another attempt, after `wait` seconds if the endpoint named a time."""

    def __init__(self, reason: str, wait: float | None = None):
        super().__init__(reason)
        self.wait = wait


class Endpoint:
    """A text model behind an OpenAI-compatible `/chat/completions`, at temperature 0.

    A timeout, a lost connection, 429 and 5xx are worth another request, after 1, 2, 4, … seconds or
    as long as `Retry-After` says (at most `LONGEST_WAIT`). More than `MOST_BYTES` of a response are
    refused. The environment variable `KEY_VARIABLE` holds the key; unset, no key is sent.

    Args:
        url: the base, as in `https://host/v1`. Plain http is accepted on this machine only, because
            the key travels with every request.
        name: the model asked for.

    Raises:
        ValueError: if the URL is neither https nor on this machine.
    """

    def __init__(self, url: str, name: str):
        parts = urlsplit(url)
        local = parts.scheme == "http" and parts.hostname in _LOOPBACK
        if parts.scheme != "https" and not local:
            raise ValueError(
                f"An endpoint's address begins with https:// (or http:// on this machine); got "
                f"the scheme {parts.scheme!r} and the host {parts.hostname!r}."
            )
        self.name = name
        self._url = url.rstrip("/") + "/chat/completions"

    def complete(self, prompts: Sequence[str]) -> list[Completion]:
        """One request a prompt, some at once; see `TextModel.complete`.

        Raises:
            ValueError: if the key cannot be sent; the message does not show it.
        """
        with ThreadPoolExecutor(PARALLEL) as pool:
            return list(pool.map(self._one, prompts))

    def _one(self, prompt: str) -> Completion:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return Completion(self._request(prompt), None, attempt)
            except _Refused as refusal:
                return Completion(None, str(refusal), attempt)
            except _Busy as busy:
                reason, wait = str(busy), busy.wait
            if attempt < ATTEMPTS:
                sleep(min(2.0 ** (attempt - 1) if wait is None else wait, LONGEST_WAIT))
        return Completion(None, f"{reason} (attempt {attempt} of {attempt})", attempt)

    def _request(self, prompt: str) -> str:
        body = {
            "model": self.name,
            "messages": [{"role": "user", "content": prompt}],
            "temperature": 0,
            "max_tokens": MAX_TOKENS,
        }
        deadline = monotonic() + TIMEOUT
        try:
            with requests.post(
                self._url, json=body, auth=self._sign, timeout=TIMEOUT, stream=True,
                allow_redirects=False, headers={"Accept-Encoding": "identity"},
            ) as response:  # fmt: skip
                if response.status_code == 429 or response.status_code >= 500:
                    wait = _seconds(response.headers.get("Retry-After"))
                    raise _Busy(f"HTTP {response.status_code}", wait)
                if response.status_code != 200:
                    raise _Refused(f"HTTP {response.status_code}")
                content = _read(response, deadline)
        except (requests.Timeout, urllib3.exceptions.TimeoutError):
            raise _Busy(f"no answer within {TIMEOUT:g} s") from None
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            raise _Busy(f"connection failed ({type(error).__name__})") from None
        try:
            text = json.loads(content)["choices"][0]["message"]["content"]
        except (ValueError, LookupError, TypeError, RecursionError):
            raise _Refused("the response is no chat completion") from None
        if not isinstance(text, str):
            raise _Refused("the response holds no text")
        return text

    def _sign(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        # As a callable, so that requests does not put a netrc entry in the key's place.
        key = os.environ.get(KEY_VARIABLE, "").strip()
        if not (key.isascii() and key.isprintable()):
            # Said here, because the HTTP library's own message would quote the key.
            raise ValueError(
                f"The key in {KEY_VARIABLE} holds characters that no header can carry; "
                "expected printable ASCII on one line."
            )
        if key:
            request.headers["Authorization"] = f"Bearer {key}"
        return request


class LocalTextModel:
    """A causal language model on this machine, decoded greedily; safetensors, no remote code.

    A prompt that leaves no room for an answer in the model's context is a failed completion.
    """

    def __init__(self, path: str):
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self.name = model_name(path)
        source = hub_settings(path)
        self._tokenizer = AutoTokenizer.from_pretrained(path, padding_side="left", **source)
        if self._tokenizer.pad_token is None:
            self._tokenizer.pad_token = self._tokenizer.eos_token
        model = AutoModelForCausalLM.from_pretrained(path, use_safetensors=True, **source)
        self._model = model.eval()

    def complete(self, prompts: Sequence[str]) -> list[Completion]:
        """See `TextModel.complete`."""
        texts = [self._turn(prompt) for prompt in prompts]
        room = getattr(self._model.config, "max_position_embeddings", None)
        completions: list[Completion] = [Completion("")] * len(texts)
        fitting = []
        for index, text in enumerate(texts):
            length = len(self._tokenizer(text, add_special_tokens=self._plain).input_ids)
            if room is not None and length + MAX_NEW_TOKENS > room:
                completions[index] = Completion(
                    None, f"{length} tokens and {MAX_NEW_TOKENS} new ones exceed {room}", 0
                )
            else:
                fitting.append((length, index))
        fitting.sort()  # prompts of like length share a pass
        for start in range(0, len(fitting), BATCH):
            indices = [index for _, index in fitting[start : start + BATCH]]
            written = self._pass([texts[i] for i in indices])
            for index, text in zip(indices, written, strict=True):
                completions[index] = Completion(text)
        return completions

    @property
    def _plain(self) -> bool:
        return self._tokenizer.chat_template is None

    def _turn(self, prompt: str) -> str:
        if self._plain:
            return prompt
        return self._tokenizer.apply_chat_template(
            [{"role": "user", "content": prompt}], tokenize=False, add_generation_prompt=True
        )

    @torch.inference_mode()
    def _pass(self, texts: Sequence[str]) -> list[str]:
        inputs = self._tokenizer(
            list(texts), return_tensors="pt", padding=True, add_special_tokens=self._plain
        ).to(self._model.device)
        ids = self._model.generate(
            input_ids=inputs.input_ids, attention_mask=inputs.attention_mask,
            do_sample=False, temperature=None, top_p=None, top_k=None,
            max_new_tokens=MAX_NEW_TOKENS, pad_token_id=self._tokenizer.pad_token_id,
        )  # fmt: skip
        return self._tokenizer.batch_decode(
            ids[:, inputs.input_ids.shape[1] :], skip_special_tokens=True
        )


def json_object(text: str) -> dict | None:
    """The JSON object that `text` is, a code fence around it allowed; None where it is none.

    Prose before or after the object makes it none: an answer that was not asked for is not mined
    for one that was.
    """
    text = text.strip()
    if text.startswith("```") and text.endswith("```") and "\n" in text:
        text = text.split("\n", 1)[1].removesuffix("```").strip()
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _seconds(header: str | None) -> float | None:
    """`Retry-After` in seconds; None for its date form, which the backoff replaces."""
    try:
        wait = float(header or "")
    except ValueError:
        return None
    return wait if wait >= 0 else None


def _read(response: requests.Response, deadline: float) -> bytes:
    """The body, refused where it is too long, given up where it drips past the deadline."""
    content = bytearray()
    # read1 returns what has arrived; read would wait for a whole piece, past any deadline.
    while piece := response.raw.read1(1 << 14):
        content += piece
        if len(content) > MOST_BYTES:
            raise _Refused(f"the response is longer than {MOST_BYTES:,} bytes")
        if monotonic() > deadline:
            raise requests.Timeout
    return bytes(content)

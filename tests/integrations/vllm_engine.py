"""A stand-in for vLLM's engine: its batch of rows and its steps, over plain passes of a model.

What it hands to the logits processor is what vLLM's runner hands to it: rows that requests enter,
leave and change, and logits by row. It asserts that no step gets more than it has room for.
"""

import copy
import random
from types import SimpleNamespace

import torch


class InprocClient:
    """Named as vLLM's own, whose engine is in this process."""


class Request:
    def __init__(self, name, inputs, params):
        self.name, self.inputs, self.params = name, inputs, copy.deepcopy(params)
        self.written = []

    @property
    def tokens(self):
        """How many the next step reads of it."""
        return 1 if self.written else len(self.inputs["prompt_token_ids"])


class Engine:
    """vLLM's `LLMEngine` over a model of the kernel.

    `fault(step, request)` says what goes wrong there: "hold" leaves a request out of a step, as a
    lack of seats does, or preemption; "part" reads a part of its prompt, so that its row is there
    and its token is thrown away.
    """

    def __init__(self, plugin, update, model, name, fault=lambda step, request: None, **limits):
        self._update, self._model, self._fault = update, model, fault
        self._directions = plugin.MoveDirectionality
        self._random = random.Random(0)
        self.processor = plugin.RoundsProcessor(None, "cpu", False)
        self.engine_core, self.renderer = InprocClient(), self
        self.requests, self.rows, self.steps, self.busiest = [], [], 0, 0
        limits = {"max_num_seqs": 13, "max_num_batched_tokens": 4096, "num_gpu_blocks": 4096,
                  "max_model_len": 2048} | limits  # fmt: skip
        self.vllm_config = SimpleNamespace(
            speculative_config=None,
            use_v2_model_runner=False,
            parallel_config=SimpleNamespace(world_size=1, data_parallel_size=1),
            scheduler_config=SimpleNamespace(
                async_scheduling=False,
                long_prefill_token_threshold=0,
                max_num_seqs=limits["max_num_seqs"],
                max_num_batched_tokens=limits["max_num_batched_tokens"],
            ),
            cache_config=SimpleNamespace(num_gpu_blocks=limits["num_gpu_blocks"], block_size=16),
            device_config=SimpleNamespace(device="cpu"),
            model_config=SimpleNamespace(
                logits_processors=[plugin.RoundsProcessor],
                model=str(name),
                revision=None,
                trust_remote_code=False,
                dtype=model.dtype,
                multimodal_config=SimpleNamespace(mm_processor_kwargs={}, mm_processor_cache_gb=0),
                max_model_len=limits["max_model_len"],
            ),
        )

    def render_cmpl(self, prompts):
        return [self._rendered(**prompt) for prompt in prompts]

    def _rendered(self, prompt_token_ids, multi_modal_data=None):
        ids, processor = list(prompt_token_ids), self._model.processor
        if multi_modal_data is None:
            return {"prompt_token_ids": ids, "picture": processor.words_for_picture("")}
        picture = processor.prepare(multi_modal_data["image"])
        place = ids.index(self._model.image_token_id)
        return {"prompt_token_ids": [*ids[:place], *picture.ids, *ids[place + 1 :]],
                "picture": picture}  # fmt: skip

    def add_request(self, name, inputs, params):
        assert name not in {request.name for request in self.requests}
        self.requests.append(Request(name, inputs, params))

    def abort_request(self, names):
        self.requests = [request for request in self.requests if request.name not in names]

    def step(self):
        self.steps += 1
        faults = {request: self._fault(self.steps, request) for request in self.requests}
        scheduled = [request for request, fault in faults.items() if fault != "hold"]
        scheduler = self.vllm_config.scheduler_config
        assert len(scheduled) <= scheduler.max_num_seqs
        assert sum(each.tokens for each in scheduled) <= scheduler.max_num_batched_tokens
        self.busiest = max(self.busiest, len(scheduled))
        self.processor.update_state(self._changed(scheduled))
        logits = [
            self._model.forward(
                [*each.inputs["prompt_token_ids"], *each.written], each.inputs["picture"]
            )
            for each in self.rows
        ]
        logits = self.processor.apply(torch.stack(logits)) if logits else []
        outputs = []
        for request, row in zip(self.rows, logits, strict=True):
            if faults[request] == "part":
                continue
            request.written.append(int(row.argmax()))
            last, params = request.written[-1], request.params
            done = last in params.stop_token_ids or len(request.written) == params.max_tokens
            outputs.append(self._output(request, done))
            if done:
                self.requests.remove(request)
        return outputs

    def _changed(self, scheduled):
        """Bring the rows to what is scheduled, as vLLM does; what changed, or None."""
        rows, added, moved = self.rows, [], []
        free = [place for place, request in enumerate(rows) if request not in scheduled]
        for request in [request for request in scheduled if request not in rows]:
            place = free.pop(0) if free else len(rows)
            rows[place : place + 1] = [request]
            added.append((place, request.params, request.inputs["prompt_token_ids"],
                          request.written))  # fmt: skip
        removed = list(free)
        while free:  # from the end into the holes
            last = len(rows) - 1
            if last in free:
                free.remove(last)
            else:
                rows[free[0]] = rows[last]
                moved.append((last, free.pop(0), self._directions.UNIDIRECTIONAL))
            rows.pop()
        if len(rows) > 1:
            one, other = self._random.sample(range(len(rows)), 2)
            rows[one], rows[other] = rows[other], rows[one]
            moved.append((one, other, self._directions.SWAP))
        if not (removed or added or moved):
            return None
        return self._update(len(rows), removed, added, moved)

    @staticmethod
    def _output(request, finished):
        return SimpleNamespace(
            request_id=request.name,
            finished=finished,
            outputs=[SimpleNamespace(token_ids=list(request.written))],
            prompt_token_ids=request.inputs["prompt_token_ids"],
            num_cached_tokens=0,
        )

"""Detectors: tiny random checkpoints against the class's own output, and the noisy scene graph."""

import json

import numpy as np
import pytest
import torch
from PIL import Image
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import (
    BertConfig,
    GroundingDinoConfig,
    GroundingDinoForObjectDetection,
    Owlv2Config,
    Owlv2ForObjectDetection,
    PreTrainedTokenizerFast,
    SwinConfig,
)
from transformers.models.grounding_dino.image_processing_pil_grounding_dino import (
    GroundingDinoImageProcessorPil,
)
from transformers.models.grounding_dino.processing_grounding_dino import GroundingDinoProcessor
from transformers.models.owlv2.image_processing_pil_owlv2 import Owlv2ImageProcessorPil

from sci_book.data.rows import DatasetError
from sci_book.papers.oric import detectors
from sci_book.papers.oric.questions import Question
from sci_book.pocket.clip import build_clip
from sci_book.resources import CHECKPOINTS

OBJECTS = ["sports ball", "person", "traffic light", "person's hat"]


@pytest.fixture(scope="module")
def picture(tmp_path_factory):
    path = tmp_path_factory.mktemp("pictures") / "a.png"
    rng = np.random.default_rng(0)
    Image.fromarray(rng.integers(0, 256, (60, 80, 3), np.uint8)).save(path)
    path.with_name("b.png").write_bytes(b"no picture")
    return path


@pytest.fixture(scope="module")
def owl(tmp_path_factory):
    folder = tmp_path_factory.mktemp("owl")
    torch.manual_seed(0)
    size = {"hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 2,
            "num_hidden_layers": 2}  # fmt: skip
    _, tokenizer, _ = build_clip(0)
    config = Owlv2Config(
        text_config={**size, "vocab_size": len(tokenizer), "max_position_embeddings": 16,
                     "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0},
        vision_config={**size, "image_size": 32, "patch_size": 8},
        projection_dim=32,
    )  # fmt: skip
    Owlv2ForObjectDetection(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    Owlv2ImageProcessorPil(size={"height": 32, "width": 32}).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def dino(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dino")
    torch.manual_seed(0)
    # The class finds the ends of names by these ids, which are BERT's.
    names = ["sports", "ball", "person", "traffic", "light", "'", "s", "hat"]
    own = {0: "[PAD]", 100: "[UNK]", 101: "[CLS]", 102: "[SEP]", 1012: ".", 1029: "?"}
    own |= dict(enumerate(names, 200))
    words = {own.get(i, f"[unused{i}]"): i for i in range(1100)}
    core = Tokenizer(models.WordPiece(words, unk_token="[UNK]"))
    core.normalizer = normalizers.BertNormalizer()
    core.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    core.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 101), ("[SEP]", 102)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
        sep_token="[SEP]",
    ).save_pretrained(folder)  # fmt: skip
    config = GroundingDinoConfig(
        backbone_config=SwinConfig(
            image_size=32, embed_dim=8, depths=[1, 1, 1, 1], num_heads=[1, 1, 1, 1],
            window_size=2, out_features=["stage2", "stage3", "stage4"],
        ),
        text_config=BertConfig(
            vocab_size=1100, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
            intermediate_size=32,
        ),
        d_model=32, encoder_layers=1, decoder_layers=2, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, num_queries=7,
        max_text_len=32,
    )  # fmt: skip
    model = GroundingDinoForObjectDetection(config)
    # Random weights say much the same of every token; larger ones tell them apart.
    model.model.text_projection.weight.data *= 20
    model.save_pretrained(folder)
    GroundingDinoImageProcessorPil(size={"height": 128, "width": 128}).save_pretrained(folder)
    return folder


def test_owl_scores_are_the_best_boxes(owl, picture):
    detector = detectors.Owl(str(owl))
    scores = detector.scores(picture, OBJECTS)
    assert len(scores) == 4 and all(0 <= score <= 1 for score in scores)
    assert scores == detector.scores(picture, OBJECTS)
    inputs = detector._processor(
        images=Image.open(picture), text=[[f"an image of {o}" for o in OBJECTS]],
        return_tensors="pt", truncation=True,
    )  # fmt: skip
    with torch.no_grad():
        logits = detector._model(**inputs).logits[0]
    winner = logits.argmax(dim=1)
    for number, score in enumerate(scores):
        mine = logits[winner == number, number].sigmoid()
        assert score == pytest.approx(float(mine.max()) if len(mine) else 0)


def test_grounding_dino_scores_are_its_tokens(dino, picture):
    detector = detectors.GroundingDino(str(dino))
    scores = detector.scores(picture, OBJECTS)
    processor = GroundingDinoProcessor(detector._images, detector._tokenizer)
    inputs = processor(images=Image.open(picture), text=[OBJECTS], return_tensors="pt")
    with torch.no_grad():
        outputs = detector._model(**inputs)
    by_token = outputs.logits[0].sigmoid().amax(dim=0)
    # [CLS] sports ball . person . traffic light . person ' s hat . [SEP]
    own = [by_token[[1, 2]], by_token[[4]], by_token[[6, 7]], by_token[[9, 10, 11, 12]]]
    assert scores == pytest.approx([float(part.max()) for part in own], abs=1e-6)
    assert len({round(score, 5) for score in scores}) > 1
    dotted = detector.scores(picture, ["Sports. Ball"])
    assert dotted == pytest.approx(detector.scores(picture, ["sports ball"]))
    with pytest.raises(ValueError, match="20 objects make 42 tokens; this detector reads 32"):
        detector.scores(picture, ["person"] * 20)


def test_a_checkpoint_is_loaded_by_its_class(owl, dino):
    assert isinstance(detectors.load_detector(str(owl)), detectors.Owl)
    assert isinstance(detectors.load_detector(str(dino)), detectors.GroundingDino)
    with pytest.raises(ValueError, match="of the type 'clip'; expected owlv2 or grounding-dino"):
        detectors.load_detector(str(CHECKPOINTS / "pocket-clip"))


def asked(image, target):
    return Question(image, target, "yes", ("?",))


def test_answers_are_scores_of_a_quarter_or_more(picture):
    class Fixed:
        name = "fixed"

        def __init__(self):
            self.seen = []

        def scores(self, picture, objects):
            if picture.name == "b.png":
                raise FileNotFoundError(picture)
            self.seen.append(list(objects))
            return [{"cup": 0.25, "cow": 0.2499}[each] for each in objects]

    detector = Fixed()
    questions = [asked("a.png", "cup"), asked("b.png", "cup"), asked("a.png", "cow"),
                 asked("a.png", "cup")]  # fmt: skip
    said = detectors.answers(detector, questions, picture.parent)
    assert said == ["yes", "failed", "no", "yes"]
    assert detector.seen == [["cup", "cow"]]  # all objects of a picture together, once each


def test_a_picture_that_is_none_fails_by_name(owl, picture):
    said = detectors.answers(detectors.Owl(str(owl)), [asked("b.png", "cup")], picture.parent)
    assert said == ["failed"]


def test_a_noisy_scene_graph_misses_and_invents_its_share(tmp_path, monkeypatch):
    graph = {f"{i}.png": ["cup", "cow"] for i in range(400)}
    questions = [asked(name, target) for name in graph for target in ("cup", "cow", "car", "cat")]
    noisy = detectors.NoisySceneGraph(graph)
    assert noisy.name == "scene graph, 20% missed, 10% invented"
    said = np.array(detectors.answers(noisy, questions, tmp_path)).reshape(400, 4) == "yes"
    assert abs(said[:, :2].mean() - 0.8) < 0.04 and abs(said[:, 2:].mean() - 0.1) < 0.03
    alone = detectors.answers(noisy, questions[5:6], tmp_path)
    assert (alone == ["yes"]) == said[1, 1]
    assert detectors.answers(noisy, [asked("none.png", "cup")], tmp_path) == ["failed"]
    for wrong, expected in ((1, ["no", "no", "yes", "yes"]), (0, ["yes", "yes", "no", "no"])):
        monkeypatch.setattr(detectors, "MISSED", wrong)
        monkeypatch.setattr(detectors, "INVENTED", wrong)
        assert detectors.answers(noisy, questions, tmp_path) == expected * 400
    odd = "a\u2028\x85.png"  # separators of lines that JSON leaves as they are
    scene = json.dumps({"file_name": odd, "things": [{"kind": "cup"}]}, ensure_ascii=False)
    (tmp_path / "scenes.jsonl").write_text(f"{scene}\n" * 2, encoding="utf-8")
    read = detectors.NoisySceneGraph.of_file(tmp_path / "scenes.jsonl")
    assert detectors.answers(read, [asked(odd, "cup"), asked(odd, "cow")], tmp_path) == [
        "yes", "no",
    ]  # fmt: skip
    (tmp_path / "scenes.jsonl").write_text('{"file_name": "a.png", "things": [{}]}\n')
    with pytest.raises(DatasetError, match="line 1, is no scene"):
        detectors.NoisySceneGraph.of_file(tmp_path / "scenes.jsonl")

"""Every kind of picture file: clean RGB as a person sees it, or one error of a named kind."""

import io
import os
import struct
import zlib

import numpy as np
import pytest
from PIL import ExifTags, Image

from sci_book.data.check import check
from sci_book.data.datasets import RowError, load_dataset
from sci_book.data.pictures import PictureError, decode_picture, oddities
from tests.data import formats

RAMP = np.linspace(0, 255, 48 * 32).reshape(32, 48).astype(np.uint8)
COLOURS = np.stack([RAMP, RAMP[::-1], RAMP[:, ::-1]], axis=2)


def stored(image, form="PNG", **settings):
    file = io.BytesIO()
    image.save(file, form, **settings)
    return file.getvalue()


def pixels(content):
    image = decode_picture(content)
    assert image.mode == "RGB"
    return np.asarray(image).astype(int)


# --- pictures that can be used ------------------------------------------------------------------


@pytest.mark.parametrize("form", ["PNG", "BMP", "TIFF", "PPM", "WEBP"])
def test_an_ordinary_picture_keeps_every_pixel(form):
    content = stored(
        Image.fromarray(COLOURS), form, **({"lossless": True} if form == "WEBP" else {})
    )
    assert (pixels(content) == COLOURS).all() and oddities(content) == []


@pytest.mark.parametrize(
    ("mode", "note"),
    [
        *((mode, []) for mode in ("1", "L", "P", "YCbCr")),
        ("CMYK", ["CMYK: converted without a profile"]),
    ],
)
def test_other_modes_become_rgb(mode, note):
    image = Image.fromarray(COLOURS).convert(mode)
    content = stored(image, "JPEG" if mode in ("YCbCr", "CMYK") else "PNG", quality=95)
    expected = np.asarray(image.convert("RGB")).astype(int)
    assert np.abs(pixels(content) - expected).max() <= (24 if mode in ("YCbCr", "CMYK") else 0)
    assert oddities(content) == note


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
def test_transparent_pixels_are_white_and_hidden_colours_stay_hidden(mode):
    alpha = np.full((32, 48), 255, np.uint8)
    alpha[:, :24] = 0
    image = Image.fromarray(np.dstack([COLOURS, alpha]))
    if mode == "P":
        image = Image.fromarray(RAMP // 32).convert("P")
        image.info["transparency"] = 0
        content = stored(image)
        hidden = np.asarray(image) == 0
    else:
        content = stored(image.convert(mode))
        hidden = alpha == 0
    shown = pixels(content)
    assert (shown[hidden] == 255).all() and hidden.any()
    assert not (shown[~hidden] == 255).all()
    assert oddities(content) == ["transparent: laid on white"]


def test_half_transparent_is_mixed_with_white():
    content = stored(Image.new("RGBA", (8, 8), (0, 100, 200, 128)))
    assert np.abs(pixels(content) - [127, 177, 227]).max() <= 1


def test_16_bits_keep_their_upper_8():
    deep = (RAMP.astype(np.uint16) << 8) + 255
    content = stored(Image.fromarray(deep))
    assert (pixels(content) == RAMP[:, :, None]).all()
    assert oddities(content) == ["more than 8 bits: the upper 8 are shown"]


@pytest.mark.parametrize("form", ["GIF", "PNG", "WEBP", "TIFF"])
def test_of_an_animation_the_first_frame(form):
    frames = [Image.new("RGB", (20, 10), colour) for colour in ("red", "lime", "blue")]
    settings = {"lossless": True} if form == "WEBP" else {}
    content = stored(frames[0], form, save_all=True, append_images=frames[1:], **settings)
    assert (pixels(content) == [255, 0, 0]).all()
    assert oddities(content) == ["several frames: the first is shown"]


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "TIFF"])
def test_a_rotated_picture_is_shown_upright(orientation, form):
    undo = {
        1: lambda x: x, 2: np.fliplr, 3: lambda x: np.rot90(x, 2), 4: np.flipud,
        5: lambda x: x.transpose(1, 0, 2), 6: lambda x: np.rot90(x, -1),
        7: lambda x: np.rot90(x, 2).transpose(1, 0, 2), 8: np.rot90,
    }  # fmt: skip
    colours = [[[250, 0, 0], [0, 250, 0], [0, 0, 250]], [[0] * 3, [120] * 3, [250] * 3]]
    blocks = np.kron(np.array(colours), np.ones((16, 16, 1))).astype(np.uint8)
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = orientation
    content = stored(
        Image.fromarray(blocks), form, exif=exif, **({} if form == "TIFF" else {"quality": 100})
    )
    upright = undo[orientation](blocks).astype(int)
    shown = pixels(content)
    assert shown.shape == upright.shape
    assert np.abs(shown - upright)[4::8, 4::8].max() < 30
    assert oddities(content) == ([] if orientation == 1 else ["rotated by EXIF: shown upright"])


def test_damaged_exif_beside_a_whole_picture():
    content = stored(
        Image.fromarray(COLOURS), "JPEG", exif=b"Exif\0\0II*\0\xff\xff\xff\xff", quality=95
    )
    assert pixels(content).shape == COLOURS.shape


# --- pictures that cannot -----------------------------------------------------------------------


def chunk(name, body):
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def png_of_size(width, height):
    """A PNG of a few bytes that says it has so many pixels."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = zlib.compress(b"\0" * 1000)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")
    )


def text_bomb():
    """A PNG whose text unpacks to 64 MB."""
    content = stored(Image.new("RGB", (8, 8)))
    bomb = chunk(b"zTXt", b"x\0\0" + zlib.compress(b"\0" * 2**26))
    return content[:33] + bomb + content[33:]


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (png_of_size(100_000, 100_000), "picture's size"),
        (png_of_size(9_500, 9_500), "picture's size"),
        (png_of_size(2**31 - 1, 1), "picture's size"),
        (png_of_size(30_000, 2), "picture's size"),
        (stored(Image.new("RGB", (1, 1))), "picture's size"),
        (png_of_size(0, 0), "no picture"),
        (png_of_size(64, 64), "no picture"),
        (text_bomb(), "no picture"),
        (b"", "no picture"),
        (b"\0" * 1000, "no picture"),
        (b"GIF89a", "no picture"),
        (stored(Image.fromarray(COLOURS))[:-60], "no picture"),
        (stored(Image.fromarray(COLOURS), "JPEG")[:-60], "no picture"),
        (stored(Image.fromarray(RAMP.astype(np.float32)), "TIFF"), "no picture"),
        (stored(Image.fromarray(RAMP.astype(np.int32) * 9999), "TIFF"), "no picture"),
        # Pillow would start a PostScript interpreter for this one.
        (stored(Image.fromarray(COLOURS), "EPS"), "no picture"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "no picture"),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{len(value)} bytes",
)
def test_what_is_no_usable_picture_is_one_error_of_a_kind(content, kind):
    with pytest.raises(PictureError) as caught:
        decode_picture(content)
    assert caught.value.kind == kind and str(caught.value)


# --- pictures in files --------------------------------------------------------------------------


@pytest.fixture
def world(tmp_path):
    """Questions on pictures in files; three rows are good, the others name what must not open."""
    inside, outside = tmp_path / "set", tmp_path / "secret.png"
    (inside / "pictures" / "deep").mkdir(parents=True)
    outside.write_bytes(formats.png(1))
    for name in ("a.png", "b.jpg.txt", "deep/ö c.png"):
        (inside / "pictures" / name).write_bytes(formats.png(2))
    (inside / "pictures" / "link.png").symlink_to(outside)
    (inside / "pictures" / "up").symlink_to(tmp_path)
    (inside / "pictures" / "loop.png").symlink_to("loop.png")
    (inside / "pictures" / "empty.png").touch()
    os.mkfifo(inside / "pictures" / "pipe.png")
    names = {
        "a.png": None, "b.jpg.txt": None, "deep/ö c.png": None,
        "../../secret.png": "picture outside the folder",
        str(outside): "picture outside the folder",
        "deep/../../../secret.png": "picture outside the folder",
        "..\\\\..\\\\secret.png": "picture outside the folder",
        "C:\\\\secret.png": "picture outside the folder",
        "link.png": "picture outside the folder",
        "up/secret.png": "picture outside the folder",
        "a.png\0.txt": "picture outside the folder",
        "loop.png": "picture is missing", "absent.png": "picture is missing",
        "x" * 5000: "picture is missing", "empty.png": "no picture", "pipe.png": "no picture",
        "deep": "no picture", "": "no picture",
    }  # fmt: skip
    names = {name.replace("\\\\", "\\"): kind for name, kind in names.items()}
    rows = [{"q": "Is it? Please answer yes or no.", "a": "yes", "p": name} for name in names]
    formats.write_json_lines(inside / "questions.jsonl", rows)
    (inside / "mine.yaml").write_text(
        "file: questions.jsonl\nformat: jsonl\nquestion_type: yesno\npictures: files\n"
        "picture_folder: pictures\ncolumns: {question: q, answer: a, image: p}\n"
    )
    return inside, list(names.values())


def test_no_picture_outside_the_folder_is_opened(world):
    folder, kinds = world
    dataset = load_dataset(str(folder / "mine.yaml"))
    assert [row.problem and row.problem.kind for row in dataset] == kinds
    assert all(row.image().size == (64, 48) for row in dataset.rows[:3])
    for row in dataset.rows[3:]:
        assert row.image_bytes == b"" and row.image_file is None
        with pytest.raises(RowError) as caught:
            row.image()
        assert caught.value.kind == row.problem.kind
    found = check(dataset)
    assert (found.spoilt, found.pictures) == (len(kinds) - 3, 1)


def test_a_picture_that_changes_after_loading_is_refused(world):
    folder, _ = world
    row = load_dataset(str(folder / "mine.yaml")).rows[0]
    (folder / "pictures" / "a.png").write_bytes(formats.png(3))
    with pytest.raises(RowError, match="changed since the data set was loaded"):
        row.image()
    (folder / "pictures" / "a.png").unlink()
    with pytest.raises(RowError, match="can no longer be read"):
        row.image()


def test_a_cell_of_ten_megabytes(tmp_path):
    noise = np.random.default_rng(0).integers(0, 256, (1700, 1700, 3), np.uint8)
    content = stored(Image.fromarray(noise), compress_level=0)
    rows = formats.mme_rows(1)
    rows[0][1] = formats.encoded(content)
    rows[1][3] = "x" * 10_000_000
    assert len(rows[0][1]) > 10_000_000
    formats.write_tsv(tmp_path / "big.tsv", formats.MME, rows)
    formats.write_own(tmp_path / "mine.yaml", "big.tsv")
    good, bad = load_dataset(str(tmp_path / "mine.yaml"))
    assert good.problem is None and (np.asarray(good.image()) == noise).all()
    assert bad.problem.kind == "text" and len(bad.question) < 1000

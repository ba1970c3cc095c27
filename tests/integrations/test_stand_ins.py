"""The comparison with an installed tool finds what has changed."""

from tests.integrations import stand_ins


class Decoder:
    def __init__(self, strictness): ...

    def decode(self, s): ...

    def decode_all(self, s): ...


def dumps(obj, *, indent=None): ...


def test_what_a_tool_changed_is_found():
    assert stand_ins.differences({"json": {"dumps": dumps}}) == []
    found = stand_ins.differences({"json": {"JSONDecoder": Decoder}})
    assert [each.split(" ")[:2] for each in found] == [
        ["json.JSONDecoder.__init__", "takes"],
        ["json.JSONDecoder.decode_all", "is"],
    ]


def test_a_new_required_argument_is_found():
    assert stand_ins._parameters("f", lambda a: a, lambda a, b: b) != []
    assert stand_ins._parameters("f", lambda a: a, lambda a, b=1, *c, **d: b) == []

"""Logits that tests of the equations share: drawn ones, and a toy."""

import numpy as np
import torch
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

# Quarters between -8 and 8: ties are common, and float64 sums of them are exact.
QUARTERS = st.integers(-32, 32).map(lambda n: n / 4)


@st.composite
def logits(draw, rounds):
    shape = (draw(rounds), draw(st.integers(1, 3)), draw(st.integers(1, 6)))
    return torch.from_numpy(draw(hnp.arrays(np.float64, shape, elements=QUARTERS)))


TWO = logits(st.just(2))
MANY = logits(st.integers(1, 7))
TEMPERATURES = st.floats(0.1, 20.0)

TOY = torch.tensor([[[2.0, 1.0, 0.0]], [[1.0, 3.0, 0.0]], [[2.0, 0.0, 1.0]]])

"""The gate: visual rounds are read only where they can change the answer.

If the textual rounds leave one token to the constraint, its score is the only finite one, and it
wins, greedy and sampled. So the textual rounds go first, and the visual rounds follow, with the
output head on the survivors alone, where two tokens or more are left. Exact for finite logits,
except where two scores differ by less than floating-point error.
"""

import torch
from torch import Tensor

from sci_core.engine.rounds import Rounds
from sci_core.methods import Method
from sci_core.plausibility import finite
from sci_core.scoring import survivors


def gated_logits(
    method: Method, rounds: Rounds, step: int, forbidden: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Return logits `[rounds, nodes, vocab]` that give the method's choice, and `[nodes]` read.

    `rounds` was started with its visual rounds deferred. Where a visual round was not read, and at
    tokens that did not survive, it repeats the original round, which changes no choice. Nodes whose
    textual logits are not finite are not looked at.
    """
    Z = rounds.logits
    visual = Z[:1].expand(len(method.visual), -1, -1).clone()
    sound = finite(Z).all(dim=0)
    looked = torch.zeros_like(sound)
    if not method.visual or not method.edits(step) or not sound.any():
        return torch.cat([Z, visual]), looked
    barred = None if forbidden is None else forbidden[sound]
    left = survivors(method, Z[:, sound], step=step, forbidden=barred)
    undecided = left.sum(dim=-1) > 1
    looked[sound] = undecided
    nodes = looked.nonzero().flatten()
    if len(nodes):
        # Log-probabilities need the whole vocabulary.
        tokens = None if method.log_probs else left[undecided].any(dim=0).nonzero().flatten()
        columns = torch.arange(Z.shape[-1], device=Z.device) if tokens is None else tokens
        places = torch.arange(len(visual), device=Z.device)[:, None, None]
        visual[places, nodes[:, None], columns] = rounds.read_visual_rounds(nodes, tokens)
    return torch.cat([Z, visual]), looked

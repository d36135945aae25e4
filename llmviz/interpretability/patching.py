"""Activation patching: a part of what one prompt made of a model, put into its pass over another.

T tokens, C = n_embd, H heads, G heads of keys and values, D = C/H head size, L layers, V
vocabulary, A aligned places. Places are counted from the end, 0 the last token: prompts of
different length are aligned there.

Reference: Meng et al. 2022, "Locating and Editing Factual Associations in GPT", section 2; Wang et
al. 2022, "Interpretability in the Wild", section 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from llmviz.models.base import LanguageModel
from llmviz.models.gpt import GPT
from llmviz.models.transformers import require_transformer
from llmviz.trace import record, replaced

KINDS = ("stream", "head", "mlp")


class Site(NamedTuple):
    """What is put from one prompt into the other.

    kind: stream, the vector before a layer (layer L: after the last); head, what one head gives
      before the output projection; mlp, what a feed-forward adds.
    """

    kind: str
    layer: int
    back: int  # the place, counted from the last token
    head: int = -1  # −1 where it is no head


class Reading(NamedTuple):
    """What a model made of one prompt, at every place that can be patched."""

    ids: tuple[int, ...]
    stream: Tensor  # (L + 1, T, C)
    concat: Tensor  # (L, T, C), the heads side by side
    mlp: Tensor  # (L, T, C)
    keys: Tensor  # (L, G, T, D)
    values: Tensor  # (L, G, T, D)
    logits: Tensor  # (V,) after the last token


class PatchMap(NamedTuple):
    """The logits of some tokens after the last token, with one site patched at a time.

    N tokens asked for. `stream` (L + 1, A, N), `head` (L, H, A, N), `mlp` (L, A, N); the last axis
    but one is the place, counted from the end.
    """

    stream: Tensor
    head: Tensor
    mlp: Tensor


def read_prompt(model: LanguageModel, ids: Sequence[int]) -> Reading:
    """Read a prompt once. Raises ValueError for a model that is no transformer, and bad ids."""
    gpt = require_transformer(model)
    blocks = [f"blocks.{layer}" for layer in range(gpt.config.n_layer)]
    taps = [["embed", *(f"{block}.residual" for block in blocks)]]
    taps += [[f"{block}.{tap}" for block in blocks] for tap in ("attn.concat", "mlp")]
    taps += [[f"{block}.attn.{tap}" for block in blocks] for tap in ("k", "v")]
    with torch.inference_mode(), record([name for names in taps for name in names]) as trace:
        logits = gpt(torch.tensor([list(ids)]), last_only=True)[0][0, -1]
        stream, concat, mlp, keys, values = (
            torch.stack([trace[name][0] for name in names]) for names in taps
        )
        return Reading(tuple(ids), stream, concat, mlp, keys, values, logits)


def aligned(own: Reading, donor: Reading) -> int:
    """How many places two prompts share, counted from the end."""
    return min(len(own.ids), len(donor.ids))


def all_sites(model: LanguageModel, places: int, kinds: Iterable[str] = KINDS) -> list[Site]:
    """Return every site of some kinds at the last `places` tokens."""
    config = require_transformer(model).config
    sites: list[Site] = []
    for kind in kinds:
        layers = config.n_layer + (kind == "stream")
        heads = range(config.n_head) if kind == "head" else (-1,)
        sites += [
            Site(kind, layer, back, head)
            for layer in range(layers)
            for head in heads
            for back in range(places)
        ]
    return sites


def patch(model: LanguageModel, own: Reading, donor: Reading, sites: Iterable[Site]) -> Tensor:
    """Logits (V,) after the last token of `own`, with the donor's values at all the sites.

    Later sites of one text see what earlier ones changed. The stream before layer 0 holds tokens
    and positions, so the donor's positions come along.
    Raises ValueError for a site that the model or one of the prompts does not have.
    """
    gpt = require_transformer(model)
    changes: dict[str, Callable[[Tensor], Tensor]] = {}
    by_tap: dict[str, list[Site]] = {}
    for site in sites:
        _check(gpt, site, aligned(own, donor))
        by_tap.setdefault(_tap(site), []).append(site)
    for name, there in by_tap.items():
        changes[name] = partial(_put, gpt, donor, dict.fromkeys(there, 0))
    with torch.inference_mode(), replaced(changes):
        return gpt(torch.tensor([list(own.ids)]), last_only=True)[0][0, -1]


def patch_map(
    model: LanguageModel,
    own: Reading,
    donor: Reading,
    tokens: Sequence[int],
    kinds: Sequence[str] = KINDS,
) -> PatchMap:
    """Patch each site alone and return the logits of `tokens`; kinds left out are NaN.

    See `patch_by_position`, which does the same one position at a time.
    """
    config, places = require_transformer(model).config, aligned(own, donor)
    n_layer, n = config.n_layer, len(tokens)
    effects = PatchMap(
        torch.full((n_layer + 1, places, n), torch.nan),
        torch.full((n_layer, config.n_head, places, n), torch.nan),
        torch.full((n_layer, places, n), torch.nan),
    )
    for sites, logits in patch_by_position(model, own, donor, tokens, kinds):
        for site, row in zip(sites, logits, strict=True):
            if site.kind == "head":
                effects.head[site.layer, site.head, site.back] = row
            else:
                getattr(effects, site.kind)[site.layer, site.back] = row
    return effects


def patch_by_position(
    model: LanguageModel,
    own: Reading,
    donor: Reading,
    tokens: Sequence[int],
    kinds: Sequence[str] = KINDS,
    at_once: int | None = None,
) -> Iterator[tuple[list[Site], Tensor]]:
    """Yield the sites at one position and the logits of `tokens` (sites, N), from the last one on.

    All sites of a position are rows of one batch; with `at_once`, no more than so many are. What a
    site cannot change is the own prompt's and not computed again: the layers before it, and, where
    tokens see only what came before them, the tokens before its position.
    Raises ValueError for an unknown kind.
    """
    gpt = require_transformer(model)
    for kind in kinds:
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}; got {kind!r}")
    sites = sorted(all_sites(gpt, aligned(own, donor), kinds), key=lambda site: site.layer)
    chosen = torch.tensor(list(tokens))
    for back in range(aligned(own, donor)):
        here = [site for site in sites if site.back == back]
        for first in range(0, len(here), at_once or max(1, len(here))):
            part = here[first : first + (at_once or len(here))]
            yield part, _patched_rows(gpt, own, donor, part)[:, chosen]


def _patched_rows(gpt: GPT, own: Reading, donor: Reading, sites: Sequence[Site]) -> Tensor:
    """Logits (N, V) after the last token, row n with site n patched: those of a place, by layer."""
    start = len(own.ids) - 1 - sites[0].back if sees_back_only(gpt) else 0
    before = Before(own.keys, own.values, start) if start else None
    with torch.inference_mode():
        mask, plain = gpt.visible(torch.tensor([own.ids[start:]]), start)
        x = own.stream.new_empty(0, len(own.ids) - start, gpt.config.n_embd)
        for layer in range(gpt.config.n_layer + 1):
            rows = {site: row for row, site in enumerate(sites) if site.layer == layer}
            x = torch.cat((x, own.stream[layer, start:].expand(len(rows), -1, -1)))
            x = _put(gpt, donor, _of_kind(rows, "stream"), x)
            if layer < gpt.config.n_layer and len(x):
                changes = {
                    _tap(Site(kind, layer, 0)): partial(_put, gpt, donor, _of_kind(rows, kind))
                    for kind in ("head", "mlp")
                }
                with replaced(changes):
                    x = gpt.blocks[layer](x, mask, plain, before)
        return gpt.head(gpt.norm_final(x[:, -1]))


def sees_back_only(gpt: GPT) -> bool:
    """Whether no token can change what an earlier one makes."""
    return gpt.config.mask == "causal" and gpt.config.softmax_before_mask is None


class Before:
    """Keys and values (L, G, T, D) of a prompt's first tokens, in the place of a `KVCache`."""

    def __init__(self, keys: Tensor, values: Tensor, length: int) -> None:
        self.keys, self.values, self.length = keys, values, length

    def extend(self, layer: int, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Those of the first tokens in front of k and v (N, G, T, D)."""
        return self._joined(self.keys[layer], k), self._joined(self.values[layer], v)

    def _joined(self, kept: Tensor, new: Tensor) -> Tensor:
        return torch.cat((kept[:, : self.length].expand(len(new), -1, -1, -1), new), dim=2)


def _of_kind(rows: dict[Site, int], kind: str) -> dict[Site, int]:
    return {site: row for site, row in rows.items() if site.kind == kind}


def _put(gpt: GPT, donor: Reading, sites: dict[Site, int], x: Tensor) -> Tensor:
    """x (N, T, C) with the donor's vector at each site, in the row that the site has."""
    if not sites:
        return x
    x = x.clone()
    for site, row in sites.items():
        at = -1 - site.back
        if site.kind == "head":
            size = gpt.config.head_size
            columns = slice(site.head * size, (site.head + 1) * size)
            x[row, at, columns] = donor.concat[site.layer, at, columns]
        else:
            x[row, at] = getattr(donor, site.kind)[site.layer, at]
    return x


def _tap(site: Site) -> str:
    """The tap that a site's vector passes."""
    if site.kind == "stream":
        return f"blocks.{site.layer - 1}.residual" if site.layer else "embed"
    return f"blocks.{site.layer}.{'attn.concat' if site.kind == 'head' else 'mlp'}"


def _check(gpt: GPT, site: Site, places: int) -> None:
    config = gpt.config
    if site.kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}; got {site.kind!r}")
    last = config.n_layer - (site.kind != "stream")
    if not 0 <= site.layer <= last:
        raise ValueError(f"layer must be from 0 to {last}; got {site.layer}")
    if site.kind == "head" and not 0 <= site.head < config.n_head:
        raise ValueError(f"head must be from 0 to {config.n_head - 1}; got {site.head}")
    if not 0 <= site.back < places:
        raise ValueError(
            f"back must be from 0 to {places - 1}, the places that both prompts have; "
            f"got {site.back}"
        )

"""Parameters and training tokens of well-known language models, as their papers give them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ModelSize:
    """A model: parameters, tokens it was trained on (0: its paper does not say), year, source."""

    name: str
    year: int
    parameters: float
    tokens: float
    source: str

    @property
    def compute(self) -> float:
        """Operations of its training, 6 · parameters · tokens; 0 where tokens are not known.

        Reference: Kaplan and others 2020, section 2.1.
        """
        return 6 * self.parameters * self.tokens


KNOWN = (
    ModelSize("GPT", 2018, 117e6, 0, "Radford and others 2018; size from Radford and others 2019"),
    ModelSize("GPT-2", 2019, 1.5e9, 0, "Radford and others 2019"),
    ModelSize("GPT-3", 2020, 175e9, 300e9, "Brown and others 2020"),
    ModelSize("Gopher", 2021, 280e9, 300e9, "Rae and others 2021"),
    ModelSize("Chinchilla", 2022, 70e9, 1.4e12, "Hoffmann and others 2022"),
    ModelSize("PaLM", 2022, 540e9, 780e9, "Chowdhery and others 2022"),
    ModelSize("LLaMA 65B", 2023, 65e9, 1.4e12, "Touvron and others 2023, February"),
    ModelSize("Llama 2 70B", 2023, 70e9, 2.0e12, "Touvron and others 2023, July"),
    ModelSize("Llama 3.1 405B", 2024, 405e9, 15.6e12, "Grattafiori and others 2024"),
)

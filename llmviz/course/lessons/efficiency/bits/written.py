"""Numbers as this chapter writes them."""

import math

from llmviz.course.ui import kit


def written(value: float, digits: int = 4) -> str:
    """Return a number with so many digits; very large and small ones as a power of ten.

    >>> written(65504, 5), written(5.9605e-8), written(-0.5), written(math.inf)
    ('65,504', '5.96·10⁻⁸', '−0.5', '∞')
    """
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "−∞" if value < 0 else "∞"
    if value == 0 or 1e-4 <= abs(value) < 1e6:
        rounded = float(f"{value:.{digits}g}")
        return f"{rounded:,.12g}".replace("-", "−")
    mantissa, power = f"{value:.{digits - 1}e}".split("e")
    return f"{float(mantissa):g}".replace("-", "−") + "·10" + kit.raised(int(power))

"""What one browser, one address and all together may have: settings, each a whole number."""

import pytest

from llmviz import limits
from tests.test_readme import README


@pytest.mark.parametrize("setting", limits.DEFAULTS)
def test_each_limit_has_a_default_and_a_setting_that_is_checked(setting, monkeypatch):
    monkeypatch.delenv(setting, raising=False)
    assert limits.limit(setting) == limits.DEFAULTS[setting]
    monkeypatch.setenv(setting, "7")
    assert limits.limit(setting) == 7
    for wrong in ("0", "-1", "many", "1.5"):
        monkeypatch.setenv(setting, wrong)
        with pytest.raises(ValueError, match=f"{setting} must be a whole number .* got '{wrong}'"):
            limits.limit(setting)


def test_readme_says_each_limit_with_its_default():
    for setting, default in limits.DEFAULTS.items():
        assert f"| `{setting}` | {default:,} |" in README, setting


@pytest.mark.parametrize("kind", ["RUNS", "UNKEPT", "WINDOWS"])
def test_an_address_may_have_more_than_a_browser(kind):
    assert limits.DEFAULTS[f"LLMVIZ_ADDRESS_{kind}"] > limits.DEFAULTS[f"LLMVIZ_BROWSER_{kind}"]


def test_no_address_alone_fills_the_server():
    default = limits.DEFAULTS
    assert default["LLMVIZ_ADDRESS_RUNS"] < default["LLMVIZ_MAX_WAITING"]
    assert default["LLMVIZ_ADDRESS_WINDOWS"] < default["LLMVIZ_MAX_WINDOWS"]
    assert default["LLMVIZ_ADDRESS_UPLOADS"] < default["LLMVIZ_MAX_UPLOADS"]

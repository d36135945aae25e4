"""Pictures in a notebook: they hold the engine's numbers, need no server, and run in a notebook."""

import asyncio
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import llmviz
from llmviz.course.components import unpack
from llmviz.course.components._shared.bundle import script
from llmviz.course.components._shared.saver.page import page_template
from llmviz.course.components._shared.transport import collected
from llmviz.course.components.vector_table.view import table_picture, vector_table
from llmviz.show import widget

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples"
EXAMPLES = sorted(FOLDER.glob("*.ipynb"))
MODEL, TEXT = "names-gpt", "anna"


@pytest.fixture(scope="module")
def model():
    return llmviz.load(MODEL)


def sent(picture):
    """What each component of a picture was sent."""
    return [unpack(one.message) for one in picture._sent]


def test_the_maps_are_those_of_the_model(model):
    (payload,) = sent(llmviz.show.attention(model, TEXT))
    own = (255 * model.attention(TEXT)).round().to(torch.uint8).numpy()
    seen = own[:, :, *np.tril_indices(own.shape[-1])]  # what a causal model can look at
    assert np.abs(payload["cells"].astype(int) - seen).max() <= 1 < seen.max()
    assert len(payload["tokens"]) == own.shape[-1]


def test_the_last_row_of_the_lens_is_what_the_model_says(model):
    (payload,) = sent(llmviz.show.lens(model, TEXT))
    best = model.logits(TEXT).softmax(-1).max(-1).values.numpy()
    assert np.allclose(payload["values"][-1], best, atol=1e-5)


def test_the_parts_of_the_ledger_add_up_to_the_logit(model):
    figure = llmviz.show.ledger(model, TEXT)
    *parts, total = figure.data[0].x
    logit = model.logits(TEXT)[-1].max().item()
    assert sum(parts) == pytest.approx(logit, abs=1e-3) and total == pytest.approx(logit, abs=1e-3)


def test_the_samplers_first_column_is_the_softmax_and_its_setting_where_it_stands(model):
    (payload,) = sent(llmviz.show.sampler(model, TEXT, temperature=0.5))
    shares = model.logits(TEXT)[-1].softmax(-1).numpy()
    first = payload["controls"][0]
    assert first["name"] == "temperature" and first["values"][first["at"]] == 0.5
    bars = first["probabilities"][first["at"], 0]
    assert np.allclose(bars, shares[payload["ids"]], atol=1e-5)
    assert (np.diff(bars) <= 0).all() and bars[0] == pytest.approx(shares.max(), abs=1e-5)


def test_any_picture_of_a_chapter_follows_the_given_text_and_settings():
    text = "anna <b>"
    cut = llmviz.show.lesson("tokenization/cut", "cut.chips", text=text, tokenizer="char")
    (strip,) = sent(cut)
    names = strip["rows"][0]["texts"]
    assert "".join(names).replace("·", " ") == text
    (strip,) = sent(llmviz.show.lesson("language/counts", "language.counts.strip", text="so so it"))
    assert list(strip["rows"][0]["texts"]) == ["so", "so", "it"]


def test_curves_take_a_name_and_a_folder_and_tokens_several_tokenizers():
    *runs, chart = sent(
        llmviz.show.curves(["names-gpt", llmviz.files.paths.CHECKPOINTS / "names-rnn"])
    )
    assert [run["store"] for run in runs] == [one["store"] for one in chart["runs"]]
    (strip,) = sent(llmviz.show.tokens({"a": "names-gpt", "b": "tiny-world-gpt"}, "anna =<b>"))
    assert [row["name"] for row in strip["rows"]] == ["a", "b"]


@pytest.mark.parametrize(
    ("made", "rule"),
    [
        (lambda: llmviz.show.attention("names-gtp", "a"), "names-gpt"),
        (lambda: llmviz.show.attention(3, "a"), "a model is its name"),
        (lambda: llmviz.show.lens(MODEL, "a" * 500), "the model reads"),
        (lambda: llmviz.show.ledger(MODEL, TEXT, "ab"), "2 tokens; one is needed"),
        (lambda: llmviz.show.sampler(MODEL, TEXT, heat=1), "got heat"),
        (lambda: llmviz.show.sampler(MODEL, TEXT, temperature=-1), "temperature"),
        (lambda: llmviz.show.curves("nothing-here"), "neither a run's folder"),
        (lambda: llmviz.show.curves([]), "no run"),
        (
            lambda: llmviz.show.lesson("tokenization/cuts", "cut.chips"),
            "nearest are tokenization/cut",
        ),
        (lambda: llmviz.show.lesson("tokenization/cut", "chips"), "nearest are cut.chips"),
        (lambda: llmviz.show.lesson("tokenization/cut", "cut.chips", txt=""), "no setting 'txt'"),
        (lambda: llmviz.show.lesson("tokenization/cut", "cut.chips", tokenizer="x"), "tokenizer"),
    ],
)
def test_what_cannot_be_drawn_is_said(made, rule):
    with pytest.raises(ValueError, match=rule):
        made()


def test_without_anywidget_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    widget._widget_class.cache_clear()
    with pytest.raises(ImportError, match="pip install anywidget"):
        llmviz.show.tokens(MODEL, TEXT)
    widget._widget_class.cache_clear()


def test_large_parts_travel_along():
    table = table_picture(np.eye(3, dtype=np.float32), ["a", "b", "c"])
    words = {}
    with collected() as got:
        vector_table(table, key="t", words=words)
    (address,) = widget.parts_of(got[0].message)
    page = widget.saved_page(got, {address: table.stored.data})
    assert json.dumps(address) in page


def test_a_text_never_ends_the_script_or_the_slot_that_it_stands_in():
    hostile = "</script><script>alert(1)</script> <!-- $& /*saved*/ <!--scripts-->"
    picture = llmviz.show.tokens(MODEL, "a")
    page = picture.page(hostile, [hostile])
    scripts = re.findall(r"<script\b", page)
    assert len(scripts) == len(re.findall(r"</script>", page)) == 4
    data = re.search(r'<script type="application/json" id="saved">(.*?)</script>', page, re.S)
    assert json.loads(data[1])["caption"] == [hostile]
    assert "<!--scripts-->" not in page.replace(data[1], "")


def test_every_script_can_stand_in_a_page():
    """A saved page has it between tags; it takes the one function that the module exports."""
    names = sorted(
        path.parent.name for path in (ROOT / "llmviz/course/components").glob("*/view.js")
    )
    for name in set(names) - {"finder"}:  # which brings along what makes these pages
        source = script(name)
        assert len(re.findall(r"^export\b", source, re.M)) == 1
        assert re.search(r"^export default function ?\(", source, re.M)
        assert "</script" not in source and "<!--" not in source
    template = page_template()
    assert template.count("/*saved*/") == template.count("<!--scripts-->") == 1
    assert "/*theme*/" not in template and "MIT License" in template


@pytest.mark.slow  # a kernel and all notebooks
def test_the_examples_run_and_stay_alive_as_html():
    """All in one kernel, each with an empty memory: starting one costs more than running them."""
    # Here, because every process of the tests collects this file.
    import nbformat
    from nbclient import NotebookClient
    from nbconvert import HTMLExporter

    assert len(EXAMPLES) == 5
    whole = nbformat.v4.new_notebook()
    for path in EXAMPLES:
        book = nbformat.read(path, as_version=4)
        nbformat.validate(book)
        assert all(not cell.get("outputs") for cell in book.cells), f"{path.name} has outputs"
        first = next(cell for cell in book.cells if cell.cell_type == "code")
        assert 'sys.path.append("..")' in first.source  # llmviz need not be installed
        whole.cells += [nbformat.v4.new_code_cell("%reset -f"), *book.cells]
    if sys.platform == "win32":
        asyncio.set_event_loop_policy(asyncio.WindowsSelectorEventLoopPolicy())
    client = NotebookClient(
        whole, timeout=300, store_widget_state=False, resources={"metadata": {"path": str(FOLDER)}}
    )
    client.execute()
    said = [
        output["text"]
        for cell in whole.cells
        for output in cell.get("outputs", ())
        if output["output_type"] == "stream"
    ]
    weights, large = said
    assert re.fullmatch(r"\(\d+, \d+, \d+\) 0\.99999\d* 1\.0\d*\n|.*1\.0.*\n", weights)
    assert large == "True\n"
    html, _ = HTMLExporter().from_notebook_node(whole)
    assert len(re.findall(r'<iframe [^>]*srcdoc="&lt;!doctype', html)) == 6
    assert "Plotly.newPlot(" in html and "plotly.js v" in html  # the figure, and what draws it

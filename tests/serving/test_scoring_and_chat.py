"""Log-probabilities, chats and the page: held against the network, transformers and lm-eval."""

import json
import re
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch

import llmviz
from llmviz.serving import template_child
from llmviz.serving.chat_template import OWN, ChatTemplate, Conversation
from llmviz.serving.engine import Engine
from llmviz.serving.http import page
from llmviz.serving.http.answering import Scored, offsets
from llmviz.serving.http.chat_protocol import KNOWN, WITHOUT_EFFECT, read_chat
from llmviz.serving.http.protocol import ApiError
from llmviz.serving.http.scoring import Scorer
from llmviz.serving.http.served import Served
from llmviz.serving.http.service import Service
from llmviz.serving.settings import ServingConfig
from llmviz.serving.template_child import GuardedTemplate
from llmviz.tokenizers import get_tokenizer
from llmviz.training.reading import CHAT
from tests.published_models import make_gpt2
from tests.serving.served import JSON, PATIENCE, listening

NAME = "small"
TEMPLATE = (
    "{% for m in messages %}[{{ m['role'] }}]{{ m['content'] }}{{ eos_token }}{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}"
)
MESSAGES = [{"role": "user", "content": "The cat"}]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = make_gpt2(tmp_path_factory.mktemp("published") / NAME)
    options = {"chat_template": TEMPLATE, "eos_token": "</s>", "bos_token": None}
    (folder / "tokenizer_config.json").write_text(json.dumps(options), "utf-8")
    return folder


@pytest.fixture(scope="module")
def model(folder):
    return llmviz.load(folder)


@contextmanager
def serving(model: llmviz.Model, conversation: Conversation | None):
    config = ServingConfig(max_batch=4, block_size=4, n_blocks=64)
    service = Service(Engine(model.module, config))
    served = Served(
        NAME,
        model.tokenizer,
        service,
        model.context_length,
        model.module.vocab_size,
        room=256,
        scorer=Scorer(model.module),
        conversation=conversation,
    )
    with listening(served, service, model) as one:
        yield one


def ask(server, path: str, **fields) -> tuple[int, dict]:
    """Return the status and the JSON of an answer."""
    body = json.dumps({"model": NAME, "temperature": 0, **fields}).encode()
    status, answer = server.ask("POST", f"/v1/{path}", body, Content_Type=JSON)
    return status, json.loads(answer)


@pytest.fixture(scope="module")
def server(model):
    chat = model.description[CHAT]
    with serving(model, Conversation(model.tokenizer, chat["template"], chat["tokens"])) as one:
        yield one


def logs_of(model, ids) -> torch.Tensor:
    with torch.no_grad():
        return model.module(torch.tensor([list(ids)]))[0][0].log_softmax(-1)


@pytest.mark.parametrize("as_ids", [False, True])
@pytest.mark.parametrize("most", [0, 4])
def test_echoed_log_probabilities_are_the_networks(server, model, as_ids, most):
    text = "The cat sat, café"
    ids = model.tokenizer.encode_from_start(text)
    prompt = ids if as_ids else text
    asked = {"prompt": prompt, "echo": True, "logprobs": 3, "max_tokens": most}
    status, body = ask(server, "completions", **asked)
    (choice,) = body["choices"]
    assert status == 200
    _, plain = ask(server, "completions", prompt=prompt, max_tokens=most)
    assert choice["text"] == text + plain["choices"][0]["text"]
    said = choice["logprobs"]
    assert {len(said[name]) for name in said} == {len(said["tokens"])}
    shown = len(ids)  # nothing stands in front of this model's texts
    logs = logs_of(model, ids)
    assert said["token_logprobs"][0] is None and said["top_logprobs"][0] is None
    expected = [logs[i - 1, ids[i]].item() for i in range(1, shown)]
    assert said["token_logprobs"][1:shown] == pytest.approx(expected, abs=1e-5)
    for i in range(1, shown):
        best, own = said["top_logprobs"][i], said["token_logprobs"][i]
        assert max(best.values()) == pytest.approx(logs[i - 1].max().item(), abs=1e-5)
        assert own in best.values() and len(best) in (3, 4)
    assert "bytes:\\xc3" in said["tokens"]  # é is two tokens
    offsets = said["text_offset"]
    assert offsets == sorted(offsets) and offsets[0] == 0
    assert body["usage"]["completion_tokens"] <= most
    if not most:
        assert choice["finish_reason"] == "length" and len(said["tokens"]) == shown


def test_what_is_written_is_as_probable_as_said_and_a_stop_text_is_left_out(server, model):
    _, body = ask(server, "completions", prompt="The cat", logprobs=1, max_tokens=6)
    (choice,) = body["choices"]
    ids = model.tokenizer.encode("The cat")
    for value, best in zip(
        choice["logprobs"]["token_logprobs"], choice["logprobs"]["top_logprobs"], strict=True
    ):
        logs = logs_of(model, ids)[-1]
        assert value == pytest.approx(logs.max().item(), abs=1e-5) and value in best.values()
        ids.append(int(logs.argmax()))
    whole = choice["text"]
    stop = next(char for char in whole[1:] if char != whole[0])
    _, body = ask(server, "completions", prompt="The cat", logprobs=1, max_tokens=6, stop=stop)
    (choice,) = body["choices"]
    assert choice["text"] == whole[: whole.index(stop)]
    assert all(offset < len(choice["text"]) for offset in choice["logprobs"]["text_offset"])


def test_each_of_the_bytes_that_make_no_character_has_its_place():
    tokenizer = get_tokenizer("bpe")
    ids = [next(id for id in range(256) if tokenizer.token_bytes(id) == b"\xfc")] * 12
    places = offsets(tokenizer, (), ids)
    said = Scored(tokenizer, ids, [None] * 12, places, tokenizer.decode(ids)).of_a_completion()
    assert said["text_offset"] == list(range(12)) and len(said["tokens"]) == 12


def test_an_echo_comes_first_in_a_stream_and_for_every_sample(server):
    import openai

    client = openai.OpenAI(base_url=server.url, api_key="none", max_retries=0, timeout=PATIENCE)
    asked = {"model": NAME, "prompt": ["The", "cat"], "n": 2, "max_tokens": 3, "seed": 1}
    whole = client.completions.create(**asked, echo=True)
    plain = client.completions.create(**asked)
    prompts = ["The", "The", "cat", "cat"]
    for before, one, other in zip(prompts, whole.choices, plain.choices, strict=True):
        assert one.text == before + other.text
    texts = [""] * 4
    for event in client.completions.create(**asked, echo=True, stream=True):
        for choice in event.choices:
            texts[choice.index] += choice.text
    assert texts == [one.text for one in whole.choices]


def test_a_chat_is_the_completion_of_its_template(server, model, folder):
    import openai
    from jinja2.sandbox import SandboxedEnvironment

    client = openai.OpenAI(base_url=server.url, api_key="none", max_retries=0, timeout=PATIENCE)
    messages = [*MESSAGES, {"role": "assistant", "content": "sat"}, MESSAGES[0]]
    answer = client.chat.completions.create(
        model=NAME, messages=messages, max_tokens=5, temperature=0, logprobs=True, top_logprobs=2
    )
    text = SandboxedEnvironment().from_string(TEMPLATE).render(
        messages=messages, add_generation_prompt=True, eos_token="</s>"
    )  # fmt: skip
    ids = model.tokenizer.encode(text, allowed_special="all")
    assert ids.count(model.tokenizer.end) == 3
    _, plain = ask(server, "completions", prompt=ids, max_tokens=5, logprobs=2)
    (choice,) = answer.choices
    assert choice.message.content == plain["choices"][0]["text"]
    assert choice.message.role == "assistant"
    assert answer.usage.prompt_tokens == len(ids)
    said = [one.logprob for one in choice.logprobs.content]
    assert said == plain["choices"][0]["logprobs"]["token_logprobs"]
    pieces = client.chat.completions.create(
        model=NAME, messages=messages, max_tokens=5, temperature=0, stream=True
    )
    deltas = [event.choices[0] for event in pieces]
    assert deltas[0].delta.role == "assistant"
    assert "".join(one.delta.content or "" for one in deltas) == choice.message.content
    assert deltas[-1].finish_reason == choice.finish_reason


def test_without_a_number_an_answer_has_the_room_that_is_left(server, model):
    _, body = ask(server, "chat/completions", messages=MESSAGES, temperature=1, seed=3)
    (choice,) = body["choices"]
    usage = body["usage"]
    if choice["finish_reason"] == "length":
        assert usage["total_tokens"] == model.context_length + 1
    parts = [{"type": "text", "text": "The cat"}]
    same = ask(server, "chat/completions", messages=[{"role": "user", "content": parts}], seed=3,
                      temperature=1)[1]  # fmt: skip
    assert same["choices"] == body["choices"]


def test_a_model_without_a_template_reads_a_play(model):
    with serving(model, None) as one:
        status, body = ask(one, "chat/completions", messages=MESSAGES, max_tokens=3)
        prompt = ChatTemplate(OWN).render(MESSAGES)
        assert prompt == "User: The cat\nAssistant:"
        _, plain = ask(one, "completions", prompt=prompt, max_tokens=3)
        assert status == 200
        assert body["choices"][0]["message"]["content"] == plain["choices"][0]["text"]


def test_an_imported_model_keeps_its_template(folder, model, tmp_path):
    from llmviz.pretrained import import_gpt2

    import_gpt2(folder, tmp_path / "run")
    saved = model.save(tmp_path / "copy")
    for one in (tmp_path / "run", saved):
        assert llmviz.load(one).description[CHAT] == {
            "template": TEMPLATE,
            "tokens": {"eos_token": "</s>"},
        }


END = "{% if add_generation_prompt %}<|assistant|>{% endif %}"
EACH = "{% for message in messages %}%s{% endfor %}" + END
TEMPLATES = [
    TEMPLATE,
    OWN,
    "{% if tools is not none %}TOOLS{% endif %}{% if documents is none %}none{% endif %}",
    "{% if tools %}TOOLS{% endif %}{{ tools }} {{ documents }} {{ tools is defined }}",
    "{%- if not tools is defined %}{% set tools = [] %}{% endif %}{{ (tools or []) | length }}",
    *(EACH.replace("%s", part) for part in (
        "<|im_start|>{{ message.role }}\n{{ message['content'] }}<|im_end|>\n",
        "{{ bos_token if loop.first }}{{ message.content | trim }}{{ eos_token }}",
        "{% if message.role == 'user' %}[INST] {{ message.content }} [/INST]{% else %} {{ message"
        ".content }}{{ eos_token }}{% endif %}",
        "{% if message.role == 'assistant' %}{% generation %}{{ message.content }}{{ eos_token }}"
        "{% endgeneration %}{% else %}{{ message.content }}{% endif %}",
        "\n  {%- generation -%}\n  {{ message.role }}  \n  {%- endgeneration -%}  \n",
        "  {% generation %}\n{% set inner = 'x' %}{{ inner }}\n  {% endgeneration %}\n{{ inner }}|",
        "{{ message | tojson }}",
        "{{ message | tojson(sort_keys=true) }}",
        "{{ message | tojson(indent=2) }}",
        "{{ message | tojson(ensure_ascii=True) }}",
        "{{ message | tojson(true, 4) }}",
        "{{ message | tojson(separators=(',', ':'), sort_keys=True) }}",
        "{{ {'b': [1, none], 'a': true} | tojson(false, none, (', ', ':'), true) }}",
        "{% if loop.index0 == 1 %}{% continue %}{% endif %}{{ message.content }}",
        "{{ loop.index }}{% if loop.last %}{% break %}{% endif %}{{ message.content }}",
        "{{ message.get('name', 'nobody') }}: {{ message.content.split('c')[0] }}",
        "{{ message.content[1:] ~ message.role.upper() }}{{ message.tool_calls is defined }}",
        "{{ message.items() | list }}",
        "{{ message['content'] | replace('cat', 'dog') | upper }}{{ '<b>&' }}",
    )),
    "{% set first = messages[0].content if messages[0].role == 'system' else 'x' %}{{ first }}",
    "{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = 1 %}{% endfor %}{{ ns.n }}",
    "{% macro say(m) %}\n    {{- m.role }}: {{ m.content }}\n{% endmacro %}{{ say(messages[0]) }}",
    "{{ dict(a=1) }}{{ messages | map(attribute='role') | join(', ') }}",
    "{{ messages | selectattr('role', 'equalto', 'user') | list | length }}{{ missing }}",
    "{# a note #}\n{{ strftime_now('%Y')[:2] }}\n\n",
    "{% for m in messages | reject('none') %}\n {% if m.role %}\nu\n{% endif %}{% endfor %}",
]  # fmt: skip


@pytest.mark.parametrize("source", TEMPLATES)
def test_a_template_writes_what_transformers_writes(source):
    from transformers.utils.chat_template_utils import render_jinja_template

    tokens = {"bos_token": "<s>", "eos_token": "</s>"}
    system = {"role": "system", "content": ' Brïef, "please" <b> '}
    for messages in (MESSAGES, [system, *MESSAGES, {"role": "assistant", "content": "日 sat"}]):
        (expected,), _ = render_jinja_template(
            [messages], chat_template=source, add_generation_prompt=True, **tokens
        )
        assert ChatTemplate(source, tokens).render(messages) == expected


ESCAPES = [
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ messages.__init__.__globals__ }}",
    "{{ raise_exception.__globals__['json'] }}",
    "{{ cycler.__init__.__globals__.os.system('id') }}",
    "{{ messages.append('x') }}",
    "{{ messages[0].update({'role': 'system'}) }}",
    "{% for i in range(999999999) %}x{% endfor %}",
    "{{ raise_exception('roles must alternate') }}",
    "{{ 1 / 0 }}",
    "{{ nothing.there }}",
]


@pytest.mark.parametrize("source", ESCAPES)
def test_a_template_that_reaches_for_python_is_refused(source):
    with pytest.raises(ValueError, match="the chat template"):
        ChatTemplate(source).render(MESSAGES)


def test_a_template_beside_the_server_writes_the_same(model):
    tokens = {"bos_token": "<s>", "eos_token": "</s>"}
    messages = [*MESSAGES, {"role": "assistant", "content": "日 \n sat"}]
    for source in TEMPLATES[:3]:
        assert GuardedTemplate(source, tokens).render(messages) == ChatTemplate(
            source, tokens
        ).render(messages)
    one = GuardedTemplate("{{ raise_exception('roles must alternate') }}")
    for _ in range(2):
        with pytest.raises(ValueError, match="roles must alternate"):
            one.render(MESSAGES)


ENDLESS = [
    "{{ 9 ** (9 ** 7) }}",  # computed where the template is read
    "{% set n = messages | length + 8 %}{{ n ** (n ** 7) }}",
    "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}",
    "{% for a in range(9999) %}{% for b in range(9999) %}xxxxxxxx{% endfor %}{% endfor %}",
    "{{ '%900000000d' % (messages | length) }}",
    "{% set ns = namespace(s='x') %}{% for i in range(60) %}{% set ns.s = ns.s ~ ns.s %}"
    "{% endfor %}{{ ns.s }}",
    "{{ 'x' * 9000000000 }}",
]


@pytest.mark.parametrize("source", ENDLESS)
def test_a_template_without_an_end_is_refused_and_the_next_one_is_not(source, monkeypatch):
    monkeypatch.setattr(template_child, "SECONDS", 0.5)
    with pytest.raises(ValueError, match="the chat template"):
        GuardedTemplate(source).render(MESSAGES)
    now = "{% if messages[0].content == 'hang' %}" + ENDLESS[2] + "{% endif %}done"
    one = GuardedTemplate(now)
    with pytest.raises(ValueError, match="the chat template takes longer"):
        one.render([{"role": "user", "content": "hang"}])
    assert one.render(MESSAGES) == "done"


def test_a_template_that_came_with_a_model_runs_beside_the_server(model):
    """`serve` gives what a folder says; what is ours needs no process."""
    assert isinstance(Conversation(model.tokenizer, TEMPLATE)._template, GuardedTemplate)


def test_a_template_that_is_none_is_refused(model):
    for source in ("{% for %}", "{{", "x" * 200_000):
        with pytest.raises(ValueError, match="chat template"):
            Conversation(model.tokenizer, source)


WRONG = {
    "model": [None, "", 5],
    "messages": [None, [], "hi", [5], [{}], [{"role": "user"}], [{"role": "cook", "content": "x"}],
                 [{"role": "user", "content": 5}], [{"role": "user", "content": []}],
                 [{"role": "user", "content": "\ud800"}],
                 [{"role": "user", "content": [{"type": "image_url"}]}],
                 [{"role": "user", "content": "x", "tool_calls": []}],
                 [{"role": "user", "content": "x"}] * 1001],
    "max_tokens": [-1, "5", True], "max_completion_tokens": [-1, 1.5],
    "n": [0], "temperature": [3], "top_p": [0], "top_k": [-2], "seed": [-1], "stop": [5],
    "min_p": [2], "repetition_penalty": [0],
    "stop_token_ids": [5], "stream": ["true"], "stream_options": [5, {}], "logprobs": [1, "x"],
    "top_logprobs": [21, 2], "tools": [[{}]], "functions": [[{}]], "response_format":
    [{"type": "json_object"}], "tool_choice": ["required"], "frequency_penalty": [1],
    "presence_penalty": [1], "logit_bias": [{"5": 1}], "modalities": [["audio"]],
    "parallel_tool_calls": [3], "store": [True], "prompt": ["x"], "colour": ["red"],
}  # fmt: skip


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, some in WRONG.items() for v in some])
def test_a_wrong_field_of_a_chat_is_refused_by_its_name(name, value):
    body = {"model": NAME, "messages": MESSAGES, name: value}
    with pytest.raises(ApiError) as refusal:
        read_chat(json.dumps(body).encode())
    error = refusal.value.body()["error"]
    assert refusal.value.status == 400 and error["param"].startswith(name) and error["code"]


def test_every_field_of_a_chat_has_a_wrong_value_above():
    assert set(KNOWN) | set(WITHOUT_EFFECT) <= set(WRONG) | {"user", "metadata"}


@pytest.mark.parametrize(
    ("path", "fields", "param", "code"),
    [
        ("completions", {"prompt": "The " * 90}, "prompt", "context_length_exceeded"),
        ("completions", {"prompt": "a", "n": 5}, "n", "invalid_value"),
        ("completions", {"prompt": "a", "top_k": 9999}, "top_k", "invalid_value"),
        ("completions", {"prompt": "a", "logprobs": 1, "stream": True}, "logprobs",
         "unsupported_parameter"),
        ("completions", {"prompt": "a", "best_of": 3}, "best_of", "unsupported_parameter"),
        ("completions", {"prompt": "a", "colour": 3}, "colour", "unknown_parameter"),
        ("chat/completions", {"messages": [{"role": "user", "content": "The " * 90}]}, "messages",
         "context_length_exceeded"),
        ("chat/completions", {"messages": [{"role": "user", "content": "a</s>b"}]}, "messages",
         "invalid_value"),
    ],
)  # fmt: skip
def test_a_refusal_has_its_param_and_its_code(server, path, fields, param, code):
    status, body = ask(server, path, **fields)
    assert status == 400
    assert (body["error"]["param"], body["error"]["code"]) == (param, code)


def test_lm_eval_scores_through_it(server, model, folder, tmp_path, monkeypatch):
    pytest.importorskip("lm_eval", reason="lm-eval is not installed")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    import lm_eval
    from lm_eval.models.openai_completions import LocalCompletionsAPI
    from lm_eval.tasks import TaskManager

    asked = [("The cat sat on the", [" mat", " dog"]), ("The mat", [" sat", " cat"])]
    rows = [{"q": q, "choices": choices, "answer": i} for i, (q, choices) in enumerate(asked)]
    data = tmp_path / "task.jsonl"
    data.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    client = LocalCompletionsAPI(
        base_url=f"{server.url}/completions", model=NAME, tokenizer=str(folder), max_length=64
    )
    task = {
        "task": "tiny",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(data)}},
        "test_split": "test",
        "output_type": "multiple_choice",
        "doc_to_text": "{{q}}",
        "doc_to_choice": "{{choices}}",
        "doc_to_target": "{{answer}}",
        "target_delimiter": "",
    }
    only = TaskManager(include_defaults=False)  # it knows thousands of others
    result = lm_eval.simple_evaluate(client, tasks=[task], task_manager=only, bootstrap_iters=0)
    for sample in result["samples"]["tiny"]:
        q, choices = asked[sample["doc_id"]]
        got = [one[0] if isinstance(one[0], tuple | list) else one for one in sample["resps"]]
        for choice, answer in zip(choices, got, strict=True):
            before = model.tokenizer.encode(q)
            ids = model.tokenizer.encode(q + choice)
            logs = logs_of(model, ids)
            places = range(len(before), len(ids))
            expected = sum(logs[i - 1, ids[i]].item() for i in places)
            greedy = all(int(logs[i - 1].argmax()) == ids[i] for i in places)
            assert float(answer[0]) == pytest.approx(expected, abs=1e-4)
            assert str(answer[1]) == str(greedy)


def test_the_page_takes_nothing_from_elsewhere_and_makes_no_markup_of_texts(server):
    for path, (name, kind) in page.FILES.items():
        status, body = server.ask("GET", path)
        assert status == 200 and server.headers["content-type"].startswith(kind)
        policy = server.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        text = body.decode()
        assert text == Path(page.__file__).with_name(name).read_text("utf-8")
        assert not re.search(r"https?:|innerHTML|insertAdjacent|document\.write|eval\(", text)
        assert not re.search(r"<script>|\bon\w+=|style=", text)

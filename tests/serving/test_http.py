"""The HTTP side of the engine on loopback: answers, limits, clients that leave, a server that ends.

The model is a stand-in, so that what each client must get is known: what it gets alone.
"""

import asyncio
import json
import re
import socket

import pytest

from llmviz.processes import read_to_end
from llmviz.serving import Request, SimulatedModel, record_all
from llmviz.serving.settings import Limits, ServingConfig
from llmviz.tokenizers import ENDOFTEXT
from tests.awaiting import awaited
from tests.serving.served import (
    CONFIG,
    CONTEXT,
    END,
    JSON,
    NAME,
    PATIENCE,
    TOKENIZER,
    alone,
    events,
    running,
    text_of,
    written,
)

PROMPTS = ("ab", "The cat", "", "of the")


@pytest.fixture(scope="module")
def server():
    with running() as one:
        yield one


def expect_whole(choice, prompt, tokens, seed=0):
    outcome = alone(prompt, tokens, seed)
    assert choice["text"] == text_of(outcome)
    assert choice["finish_reason"] == outcome.reason
    return len(outcome.tokens)


@pytest.mark.parametrize("prompt", PROMPTS)
def test_a_completion_is_what_the_engine_writes_alone(server, prompt):
    status, body = server.complete(prompt=prompt, max_tokens=12)
    assert status == 200 and body["object"] == "text_completion" and body["model"] == NAME
    (choice,) = body["choices"]
    new = expect_whole(choice, prompt, 12)
    read = 1 + len(TOKENIZER.encode(prompt))
    assert body["usage"] == {
        "prompt_tokens": read,
        "completion_tokens": new,
        "total_tokens": read + new,
    }


def test_token_ids_are_a_prompt_as_well(server):
    _, as_text = server.complete(prompt="The cat")
    _, as_ids = server.complete(prompt=[END, *TOKENIZER.encode("The cat")])
    assert as_ids["choices"] == as_text["choices"]


def test_samples_and_prompts_are_numbered_one_after_the_other(server):
    status, body = server.complete(prompt=["ab", "The cat"], n=3, seed=5, max_tokens=6)
    assert status == 200
    assert [choice["index"] for choice in body["choices"]] == list(range(6))
    for choice in body["choices"]:
        prompt = ("ab", "The cat")[choice["index"] // 3]
        expect_whole(choice, prompt, 6, seed=5 + choice["index"] % 3)


def test_beams_come_the_best_first_whole_or_at_the_end_of_a_stream(server):
    asked = dict(prompt="The cat", n=3, max_tokens=6, use_beam_search=True, length_penalty=0.5)
    status, body = server.complete(**asked)
    ids = (END, *TOKENIZER.encode("The cat"))
    request = Request("r", ids, 6, beams=3, length_penalty=0.5, stop_ids=(END,))
    model = SimulatedModel(CONFIG, TOKENIZER.vocab_size, CONTEXT)
    expected = record_all(model, [request], CONFIG).outcomes
    assert status == 200
    assert [choice["text"] for choice in body["choices"]] == [
        text_of(expected[request.name(place)]) for place in range(3)
    ]
    body = written(**asked, stream=True)
    *parts, done = events(server.ask("POST", "/v1/completions", body, Content_Type=JSON)[1])
    assert done == "[DONE]"
    for place in range(3):
        pieces = [p["choices"][0]["text"] for p in parts if p["choices"][0]["index"] == place]
        assert "".join(pieces) == text_of(expected[request.name(place)])
    status, body = server.complete(prompt="ab", n=9, use_beam_search=True)
    assert (status, body["error"]["message"][:33]) == (400, "beams must be at most max_batch, ")


@pytest.mark.parametrize("n", [1, 3])
def test_a_stream_has_the_same_text_in_pieces(server, n):
    asked = dict(prompt="The cat", n=n, seed=2, max_tokens=10)
    _, whole = server.complete(**asked)
    body = written(**asked, stream=True, stream_options={"include_usage": True})
    status, raw = server.ask("POST", "/v1/completions", body, Content_Type=JSON)
    *parts, usage, done = events(raw)
    assert status == 200 and done == "[DONE]" and usage["usage"] == whole["usage"]
    for choice in whole["choices"]:
        pieces = [p["choices"][0] for p in parts if p["choices"][0]["index"] == choice["index"]]
        assert "".join(piece["text"] for piece in pieces) == choice["text"]
        reasons = [piece["finish_reason"] for piece in pieces]
        assert reasons == [None] * (len(pieces) - 1) + [choice["finish_reason"]]
        assert len(pieces) > 2  # it came while it was written


def test_a_stop_text_ends_the_answer_and_the_work(server):
    whole = text_of(alone("The cat", 20))
    stop = whole[5:7]
    _, body = server.complete(prompt="The cat", max_tokens=20, stop=[stop, "never in it"])
    assert body["choices"][0]["text"] == whole[: whole.find(stop)]
    assert body["choices"][0]["finish_reason"] == "stop"


def test_the_models_are_listed(server):
    status, body = server.ask("GET", "/v1/models")
    (card,) = json.loads(body)["data"]
    assert status == 200 and card["id"] == NAME
    assert "never taught to answer" in card["chat_note"]  # a stand-in has no template
    assert server.ask("GET", f"/v1/models/{NAME}")[0] == 200
    assert server.ask("GET", "/v1/models/another")[0] == 404


def test_it_says_that_it_is_well(server):
    status, body = server.ask("GET", "/health")
    assert status == 200 and json.loads(body) == {"status": "ok", "busy": 0}


def problem(status_and_body) -> tuple[int, str]:
    """Return the status and the message of a refusal, which has the form of the API."""
    status, body = status_and_body
    error = (json.loads(body) if isinstance(body, bytes) else body)["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert error["message"] and "\n" not in error["message"]
    assert re.fullmatch("[a-z_]+", error["code"])
    return status, error["message"]


BAD = {
    "no JSON": (b"{", 400, "not JSON"),
    "a list": (b"[]", 400, "object"),
    "nothing": (b"", 400, "not JSON"),
    "a wrong type": (written(max_tokens="5"), 400, "max_tokens"),
    "fewer than zero tokens": (written(max_tokens=-1), 400, "max_tokens"),
    "probabilities of a stand-in": (written(logprobs=1), 400, "logprobs"),
    "an unknown field": (written(colour="red"), 400, "colour"),
    "a field that is no text": (b'{"\\ud800": 1}', 400, "ud800"),
    "a model that is no text": (written(model="\ud800"), 404, "ud800"),
    "an unknown model": (written(model="gpt-9"), 404, "gpt-9"),
    "longer than the context": (written(prompt="ab" * CONTEXT), 400, f"{CONTEXT}"),
    "far longer than the context": (written(prompt="ab" * 100_000), 400, "characters"),
    "an unknown token": (written(prompt=[5, 64]), 400, "from 0 to 63"),
    "a negative token": (written(prompt=[-1]), 400, "from 0 to 63"),
    "more choices than tokens": (written(top_k=65), 400, "at most 64"),
    "more samples than rows": (written(n=9), 400, "max_batch"),
    "huge": (written(prompt="a" * Limits().max_body), 413, f"{Limits().max_body:,}"),
}


@pytest.mark.parametrize(("body", "status", "message"), BAD.values(), ids=BAD)
def test_a_bad_request_gets_one_clear_line(server, body, status, message):
    answer = server.ask("POST", "/v1/completions", body, Content_Type=JSON)
    told = problem(answer)
    assert told[0] == status and message in told[1]
    if status == 400 and "JSON" not in told[1]:
        assert json.loads(answer[1])["error"]["param"]
    assert server.complete()[0] == 200  # nothing is lost


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_ends_where_the_context_does_and_that_is_said(server, stream):
    fits = CONTEXT - len(TOKENIZER.encode("The cat"))  # one token stands in front, the last not
    whole = text_of(alone("The cat", fits))
    asked = dict(prompt="The cat", stream=stream)
    for most, said in ((fits, False), (fits + 1, True), (10**9, True)):
        body = written(**asked, max_tokens=most)
        status, raw = server.ask("POST", "/v1/completions", body, Content_Type=JSON)
        assert status == 200
        parts = events(raw)[:-1] if stream else [json.loads(raw)]
        assert "".join(part["choices"][0]["text"] for part in parts) == whole
        assert any(f"{fits}" in note for note in parts[0].get("notes", ())) == said


def test_ids_that_do_not_begin_as_a_text_does_are_noted(server):
    ids = TOKENIZER.encode("The cat")
    for prompt, noted in ((ids, True), ([ids], True), ([END, *ids], False), ("The cat", False)):
        (note,) = server.complete(prompt=prompt)[1].get("notes") or [None]
        assert (note is not None and str(END) in note) == noted


def test_a_special_token_is_one_where_that_is_asked_for(server):
    text = f"The cat{ENDOFTEXT}ab"
    ids = [END, *TOKENIZER.encode("The cat"), END, *TOKENIZER.encode("ab")]
    _, plain = server.complete(prompt=text, max_tokens=4)
    assert plain["usage"]["prompt_tokens"] == 1 + len(text)
    note = plain["notes"][-1]
    assert ENDOFTEXT in note and "special" in note
    _, expected = server.complete(prompt=ids, max_tokens=4)
    for given in (text, ENDOFTEXT + text):  # what stands in front is not put there twice
        _, read = server.complete(prompt=given, max_tokens=4, special=True)
        assert read["choices"] == expected["choices"] and "notes" not in read
        assert read["usage"] == expected["usage"]


def test_a_stop_token_ends_the_answer_and_is_not_shown(server):
    tokens = alone("The cat", 12).tokens
    stop = next(token for token in tokens[2:] if token not in tokens[:2])
    _, body = server.complete(prompt="The cat", max_tokens=12, stop_token_ids=[stop])
    (choice,) = body["choices"]
    assert choice["text"] == TOKENIZER.decode(tokens[: tokens.index(stop)])
    assert choice["finish_reason"] == "stop"
    assert problem(server.complete(stop_token_ids=[64]))[0] == 400


def test_a_prompt_longer_than_the_memory_is_refused():
    with running(ServingConfig(block_size=4, n_blocks=2)) as small:
        status, message = problem(small.complete(prompt="ab" * 8))
        assert status == 400 and "2 blocks" in message
        assert small.complete(max_tokens=4)[0] == 200


def test_one_bad_prompt_among_good_ones_takes_none(server):
    status, _ = server.complete(prompt=["ab", "ab" * CONTEXT])
    assert status == 400
    assert json.loads(server.ask("GET", "/health")[1])["busy"] == 0


def test_what_was_taken_with_a_prompt_that_is_refused_is_not_computed():
    with running(ServingConfig(block_size=4, n_blocks=2)) as small:
        status, _ = small.complete(prompt=["a", "ab" * 8], max_tokens=3)
        assert status == 400
        assert small.complete(max_tokens=4)[0] == 200  # whatever came before it is done by now
        assert not small.model.steps[3] and small.model.steps[4]


def test_a_body_that_does_not_come_is_not_waited_for(server, monkeypatch):
    monkeypatch.setattr(read_to_end, "BODY_SECONDS", 0.05)
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as client:
        head = f"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: {JSON}\r\n"
        client.sendall(f"{head}Content-Length: 100\r\n\r\n{{".encode())
        assert client.recv(20).startswith(b"HTTP/1.1 408")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_a_body_of_another_kind_is_refused(server, kind):
    answer = server.ask("POST", "/v1/completions", written(), Content_Type=kind)
    assert problem(answer)[0] == 415


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/v1", 404), ("GET", "/v1/completions", 405), ("POST", "/v1/embeddings", 404)],
)
def test_what_is_not_here_is_refused_in_the_same_form(server, method, path, status):
    assert problem(server.ask(method, path))[0] == status


def test_another_sites_name_for_this_machine_is_refused(server):
    assert server.ask("GET", "/v1/models", Host="elsewhere.example")[0] == 400
    assert server.ask("GET", "/v1/models", Host="localhost")[0] == 200


def test_a_hundred_at_once_get_what_they_get_alone(server):
    async def one(number: int) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        body = written(prompt=PROMPTS[number % 4], max_tokens=5 + number % 3)
        head = "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        head += f"Content-Type: {JSON}\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        answer = await asyncio.wait_for(reader.read(), PATIENCE)
        writer.close()
        return answer

    async def hundred() -> list[bytes]:
        return await asyncio.gather(*map(one, range(100)))

    for number, answer in enumerate(awaited(hundred())):
        head, _, body = answer.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200")
        expect_whole(json.loads(body)["choices"][0], PROMPTS[number % 4], 5 + number % 3)


@pytest.mark.parametrize("stream", [True, False])
def test_a_client_that_leaves_is_let_go(stream):
    with running() as one:
        one.model.gate.clear()
        connection = one.open_stream(stream=stream, max_tokens=40)
        if stream:
            connection.getresponse()  # it has begun
        one.until_busy(1)
        connection.close()
        one.until_busy(0)
        one.model.gate.set()
        status, body = one.complete(max_tokens=3)
        assert status == 200
        expect_whole(body["choices"][0], "ab", 3)
        assert one.model.steps[40] <= 1  # the one that was under way


def test_when_too_many_wait_more_are_refused_and_may_come_again():
    with running(ServingConfig(max_batch=1, max_waiting=1, block_size=4, n_blocks=16)) as one:
        one.model.gate.clear()
        first = one.open_stream(stream=True)
        answer = first.getresponse()  # it was taken
        more = [one.open_stream(stream=True) for _ in range(4)]
        one.until_busy(5)
        one.model.gate.set()
        assert events(answer.read())[-1] == "[DONE]"
        got = [connection.getresponse() for connection in more]
        assert sorted(each.status for each in got) == [200, 429, 429, 429]
        for each in got:
            body = each.read()
            if each.status == 429:
                assert "wait already" in problem((429, body))[1]
                assert each.headers["Retry-After"] == "1"
            else:
                assert events(body)[-1] == "[DONE]"
        assert one.complete()[0] == 200


def test_a_server_that_is_closed_gives_each_client_an_end():
    with running(ServingConfig(max_batch=2, block_size=4, n_blocks=32)) as one:
        one.model.gate.clear()
        first = one.open_stream(stream=True, max_tokens=40)
        answer = first.getresponse()  # it has begun
        waiting = [one.open_stream(stream=stream, max_tokens=40) for stream in (True, False)]
        one.until_busy(3)
        one.end()
        assert events(answer.read())[-1]["error"]["code"] == "closed"
        for connection in waiting:
            answer = connection.getresponse()
            assert problem((answer.status, answer.read()))[0] == 503


def test_a_broken_engine_is_told_to_all_and_to_who_looks_after_it(caplog):
    with running() as one:
        one.model.gate.clear()
        connection = one.open_stream(stream=True)
        answer = connection.getresponse()
        one.model.broken = True
        one.model.gate.set()
        assert events(answer.read())[-1]["error"]["type"] == "server_error"
        assert problem(one.complete())[0] == 503
        status, body = one.ask("GET", "/health")
        assert status == 503 and json.loads(body)["status"] == "failed"
    assert "the stand-in is broken" in caplog.text


@pytest.mark.parametrize("stream", [True, False])
def test_one_for_whom_no_token_can_be_drawn_fails_alone(stream, caplog):
    with running() as one:
        one.model.gate.clear()
        good = one.open_stream(stream=True, max_tokens=6)
        answer = good.getresponse()  # it has begun
        one.model.spoiled = TOKENIZER.encode("z")[0]
        bad = one.open_stream(stream=stream, prompt="a z", max_tokens=6)
        one.until_busy(2)
        one.model.gate.set()
        body = bad.getresponse().read()
        error = (events(body)[-1] if stream else json.loads(body))["error"]
        assert error["code"] == "failed" and "must be finite" in error["message"]
        text = "".join(each["choices"][0]["text"] for each in events(answer.read())[:-1])
        assert text == text_of(alone("ab", 6))
        expect_whole(one.complete(max_tokens=3)[1]["choices"][0], "ab", 3)
        assert one.ask("GET", "/health")[0] == 200
    assert "must be finite" in caplog.text


def test_openais_own_client_is_served(server):
    import openai

    client = openai.OpenAI(base_url=server.url, api_key="none", max_retries=0, timeout=PATIENCE)
    asked = dict(model=NAME, prompt="The cat", max_tokens=10, temperature=0, seed=0)
    whole = client.completions.create(**asked)
    outcome = alone("The cat", 10)
    assert whole.choices[0].text == text_of(outcome)
    assert whole.choices[0].finish_reason == outcome.reason
    assert whole.usage.completion_tokens == len(outcome.tokens)
    pieces = list(client.completions.create(**asked, stream=True))
    assert "".join(piece.choices[0].text for piece in pieces) == text_of(outcome)
    assert pieces[-1].choices[0].finish_reason == outcome.reason
    assert [one.id for one in client.models.list()] == [NAME]
    with pytest.raises(openai.NotFoundError, match="gpt-9"):
        client.completions.create(**asked | {"model": "gpt-9"})
    with pytest.raises(openai.BadRequestError, match="48 tokens at most"):
        client.completions.create(**asked | {"prompt": "ab" * CONTEXT})


def test_openais_own_client_hears_of_a_server_that_ends():
    import openai

    with running() as one:
        client = openai.OpenAI(base_url=one.url, api_key="none", max_retries=0, timeout=PATIENCE)
        one.model.gate.clear()
        stream = client.completions.create(
            model=NAME, prompt="ab", max_tokens=40, temperature=0, seed=0, stream=True
        )
        one.end()
        with pytest.raises(openai.APIError, match="closed"):
            for _ in stream:
                pass

# Short names for what a contributor runs often: `just` lists them. README does without.

python := if path_exists(".venv") == "true" { ".venv/bin/python" } else { "python3" }

[private]
default:
    @just --list

# Install all that developing needs into .venv
install:
    python3 -m venv .venv
    .venv/bin/pip install -q -r requirements-dev.txt

# Serve the app; saved Python files and documents are taken at once
app:
    LLMVIZ_WATCH_TEXTS=1 {{python}} -m streamlit run app.py --server.fileWatcherType auto --server.runOnSave true

# Format, lint and types
check:
    {{python}} -m ruff format .
    {{python}} -m ruff check .
    {{python}} -m mypy

# Scripts and styles; needs node
scripts:
    npx --yes @biomejs/biome@2.6.8 ci

# The engine, and every page opened once; or what is named
test *what:
    {{python}} -m pytest {{what}}

# The pages one by one, and in a real browser
pages:
    {{python}} -m pytest -m "pages or browser"

# Everything, as it is run before a change is taken
all:
    .ci/run

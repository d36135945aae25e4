"""Texts that are fetched once from their public addresses and checked against their sha256."""

from dataclasses import dataclass
from pathlib import Path


class CorpusUnavailable(ValueError):
    """A corpus cannot be had right now; the message says why and what to do."""


@dataclass(frozen=True)
class Download:
    """Where a text is found, and what it must hash to."""

    url: str
    sha256: str
    file_name: str


_MAKEMORE = "https://raw.githubusercontent.com/karpathy/makemore/master/names.txt"
_CHAR_RNN = (
    "https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt"
)
_FROM_SCRATCH = (
    "https://raw.githubusercontent.com/rasbt/LLMs-from-scratch/main/ch02/01_main-chapter-code/"
    "the-verdict.txt"
)

DOWNLOADS = {
    "names-ssa": Download(
        _MAKEMORE,
        "0a30b5557f192f32ab962680889aac5f6fda0f4cecf40a6d0b5694f58ea8cc4d",
        "names-ssa.txt",
    ),
    "tinyshakespeare": Download(
        _CHAR_RNN,
        "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
        "tinyshakespeare.txt",
    ),
    "the-verdict": Download(
        _FROM_SCRATCH,
        "b41e41a68f0398a3154ae69e2e4c0e2694e17fe0d66730536837f1b01935b31f",
        "the-verdict.txt",
    ),
}

_SECONDS_TO_WAIT = 20


def cache_folder() -> Path:
    """Return the user's cache folder for downloaded texts; it need not exist yet."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("llmviz", appauthor=False)) / "corpora"


def fetch(
    name: str,
    folder: str | Path | None = None,
    *,
    progress: bool = False,
    download: Download | None = None,
) -> Path:
    """Return the path of a downloaded text; the network is used only if it is not there yet.

    folder: where to keep it; the user's cache folder if None.
    progress: show a progress bar on standard error while downloading.
    download: another address for the same name (a mirror).
    Raises CorpusUnavailable, in one line, if there is no network, the server refuses, the
    checksum differs, or the file cannot be written. Nothing is left half-written: the text is
    downloaded under a temporary name and gets its own after its checksum was found right.
    """
    if name not in DOWNLOADS and download is None:
        raise ValueError(f"no download {name!r}; there are {', '.join(DOWNLOADS)}")
    import pooch
    import requests

    what = download or DOWNLOADS[name]
    folder = Path(folder) if folder is not None else cache_folder()
    pooch.get_logger().setLevel("WARNING")
    downloader = pooch.HTTPDownloader(progressbar=progress, timeout=_SECONDS_TO_WAIT)
    try:
        path = pooch.retrieve(
            what.url, f"sha256:{what.sha256}", what.file_name, folder, downloader=downloader
        )
    except requests.exceptions.HTTPError as error:
        code = "an error" if error.response is None else error.response.status_code
        raise CorpusUnavailable(
            f"{name} cannot be downloaded: {what.url} answered {code}"
        ) from None
    except requests.exceptions.RequestException as error:
        raise CorpusUnavailable(
            f"{name} cannot be downloaded from {what.url}: no connection "
            f"({type(error).__name__}); the bundled corpora need no network"
        ) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise CorpusUnavailable(f"{name} cannot be written to {folder}: {reason}") from None
    except ValueError as error:
        if "hash" not in str(error):
            raise
        raise CorpusUnavailable(
            f"{name} from {what.url} is not the expected file: its sha256 differs from "
            f"{what.sha256[:12]}…; nothing was kept"
        ) from None
    return Path(path)

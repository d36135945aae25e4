"""Start with `streamlit run app.py`: the server, page settings, lessons, the shared sidebar."""

import streamlit as st
from starlette.middleware import Middleware

from llmviz.course import streamlit_parts
from llmviz.course.lessons import LESSONS
from llmviz.course.ui import (
    classroom,
    documents,
    first_page,
    old_sessions,
    saved_files,
    server,
    uploads,
)
from llmviz.course.ui.frames import Frames
from llmviz.course.ui.open_windows import OpenWindows
from llmviz.course.ui.process_cookie import ProcessCookie
from llmviz.processes.read_to_end import ReadToEnd

if __name__ == "__main__":  # what runs for each visitor, and again for each of their changes
    from llmviz.course.ui.documents import hear_language
    from llmviz.course.ui.shell import page_list, sidebar, tidy
    from llmviz.files.paths import ICON

    # An icon file of our own: a named icon or an emoji would be fetched from another host.
    st.set_page_config(page_title="llmviz", page_icon=str(ICON), layout="wide")

    hear_language()
    page = st.navigation(page_list(LESSONS), expanded=True)
    classroom.arrive(page)
    sidebar()
    tidy(page.url_path)
    page.run()
    server.freeze_imports()
else:  # what the server imports once, when it starts
    documents.offer_languages()
    old_sessions.keep_few()
    streamlit_parts.look_up_values()
    streamlit_parts.ask_without_errors()
    streamlit_parts.set_what_differs()
    streamlit_parts.read_theme_once()
    streamlit_parts.copy_blocks_once()
    streamlit_parts.send_whole()
    streamlit_parts.name_what_browsers_have()
    streamlit_parts.wake_once()
    streamlit_parts.leave_pages_whole()
    streamlit_parts.check_uploads(uploads.check)
    base = st.get_option("server.baseUrlPath")
    before = [Middleware(ReadToEnd), Middleware(Frames), Middleware(ProcessCookie)]
    before.append(Middleware(OpenWindows))
    app = st.App(
        __file__,
        lifespan=server.lifespan(LESSONS),
        middleware=before,
        routes=[
            *saved_files.routes(base),
            *classroom.routes(base),
            *first_page.routes([lesson.key for lesson in LESSONS], base),
        ],
    )

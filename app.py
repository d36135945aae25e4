"""Start with `streamlit run app.py`: the server, page settings, lessons, the shared sidebar."""

import streamlit as st

from llmviz.ui import old_sessions, server

if __name__ == "__main__":  # what runs for each visitor, and again for each of their changes
    from llmviz.paths import ICON
    from llmviz.ui.shell import sidebar, tidy

    # An icon file of our own: a named icon or an emoji would be fetched from another host.
    st.set_page_config(page_title="llmviz", page_icon=str(ICON), layout="wide")

    LESSONS = [
        st.Page("pages/home.py", title="The whole machine", icon=":material/home:", default=True),
        st.Page("pages/tokenization.py", title="Text to tokens", icon=":material/content_cut:"),
        st.Page("pages/embeddings.py", title="Tokens to vectors", icon=":material/scatter_plot:"),
        st.Page("pages/attention.py", title="Attention", icon=":material/hub:"),
        st.Page("pages/training.py", title="Training", icon=":material/model_training:"),
        st.Page("pages/sampling.py", title="Sampling", icon=":material/casino:"),
        st.Page("pages/glossary.py", title="Glossary", icon=":material/menu_book:"),
    ]

    page = st.navigation(LESSONS)
    sidebar()
    tidy()
    page.run()
    server.freeze_imports()
else:  # what the server imports once, when it starts
    old_sessions.keep_few()
    app = st.App(__file__, lifespan=server.lifespan)

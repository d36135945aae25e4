"""Inside the transformer: the whole machine opened, and what research tools do with it."""

import streamlit as st

from llmviz.course.lessons.transformer import LESSON
from llmviz.course.ui.lesson import show

if st.query_params.get("part") == "published":  # of older links: it is a page of its own today
    st.switch_page("pages/models.py")
show(LESSON)

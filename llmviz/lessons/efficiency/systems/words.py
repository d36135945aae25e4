"""All that the chapter "Which system does what" says. Names in braces: live numbers."""

from llmviz.lessons.efficiency import LESSON

TITLE = LESSON.title_of("systems")
TEXT = (
    "You do not have to write all of this yourself: there are systems that serve models, and "
    "systems that train them. Here is which of the ideas of this lesson each of them has. Choose a "
    "system, or an idea. Each statement has a source, and each idea leads to the chapter that "
    "shows it at work. Systems change: a source says what was so at its date."
)
VIEW = "Look up"
VIEWS = {"system": "a system", "idea": "an idea"}
SYSTEM = "System"
IDEA = "Idea"
ABOUT_SYSTEM = "**{name}** {about}. By the sources here it has {yes} of the {all} ideas{partly}."
ABOUT_IDEA = "**{name}**: {about}. By the sources here it is in {yes} of the {all} systems{partly}."
IN_PART = " ({partly} of them only in part)"
GROUPS = {
    "yes": "has it",
    "partly": "has it in part",
    "no": "does not have it",
    "no job": "is not made for that",
    "open": "no source here says so, but it may have it all the same",
}
ITEM = "**{name}**: {about}"
NOTE = " ({note})"
SOURCE = " [\\[{number}\\]]({address})"
LEADS = "See it: {chapter}"
LEAD_TITLE = "The chapters that show these ideas"
SOURCES_TITLE = "Sources"
SOURCE_LINE = "{number}. [{title}]({address}), {date}."
VERSION = "version {version}"
READ = "All of them were read on {date}."
TABLE_TITLE = "All at a glance"
TABLE_FIRST = "idea"
SIGNS = {"yes": "yes", "partly": "partly", "no": "no", "no job": "–", "open": "?"}
TABLE_NOTES = {
    "yes": "yes, partly, no: a source shows it.",
    "no job": "–: the system is made for something else, as its source says.",
    "open": "?: no source here says so, but the system may have it all the same.",
}
TABLE_MOVES = "On a narrow screen the table can be moved sideways."
ASK = "Which of these ideas does {system} have?"
ANSWER = "{idea}: {about}"
RIGHT = "Its source “{title}” says so."
WRONG = "{system} is not made for that: it {about}."

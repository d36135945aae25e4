"""All that the chapter "Who does what" says. Names in braces: live numbers."""

TITLE = "Who does what"
TEXT = (
    "Nobody has to write all of this anew: there are systems that serve models, and others that "
    "train them. Here is which of the ideas of this lesson each of them says that it has. Choose a "
    "system, or an idea. Each statement has a source, and each idea leads to the chapter that "
    "shows it at work. Systems change: a source says what was so at its date."
)
VIEW = "Look up"
VIEWS = {"system": "a system", "idea": "an idea"}
SYSTEM = "System"
IDEA = "Idea"
ABOUT_SYSTEM = "**{name}** {about}. It has {yes} of the {all} ideas, {partly} of them in part."
ABOUT_IDEA = "**{name}**: {about}. {yes} of the {all} systems have it, {partly} of them in part."
GROUPS = {
    "yes": "has it",
    "partly": "has it in part",
    "no job": "is not made for that",
    "open": "not found in the sources here, so that nothing is claimed",
}
ITEM = "**{name}**: {about}"
NOTE = " ({note})"
SOURCE = " [\\[{number}\\]]({address})"
LEADS = "See it: {chapter}"
LEAD_TITLE = "The chapters that show these ideas"
SOURCES_TITLE = "Sources"
SOURCE_LINE = "{number}. [{title}]({address}), {date}."
READ = "All of them were read on {date}."
TABLE_TITLE = "All at a glance"
TABLE_FIRST = "idea"
SIGNS = {"yes": "yes", "partly": "partly", "no job": "–", "open": "?"}
TABLE_NOTE = (
    "yes and partly: its source says so. –: the system is not made for that. ?: not found in the "
    "sources here. On a narrow screen the table can be moved sideways."
)
ASK = "Which of these systems does a source here say to have “{idea}”?"
RIGHT = "{system}: its source is “{title}”."
WRONG = {
    "no job": "{system} {about}. It is not made for that.",
    "open": "In the sources here nothing was found about that in {system}.",
}

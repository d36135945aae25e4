"""A story with a question about it, which chapters of the lesson open with."""

STORY = (
    "This is the story of Naomi Coppermere, a tall acrobat. Across the valley lived Cara "
    "Pebbleson, a playful baker. They met at the pasture. Cara found a tiny white camera beside "
    "the throne. The tigers behind the lagoons were drenched. Naomi skated to the pharmacy. Cara "
    "passed the white camera to Naomi. In the end Cara Pebbleson was hopeful and ate caramel."
)
QUESTION = "Who has the camera?"

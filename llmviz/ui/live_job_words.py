"""What work in the background says of itself."""

BEGINS = "A process of its own begins, and loads the model …"
GOES = "Training …"
WAITS = "Waits: {count} before it."
STOP = "Stop"
STOPPED = "The training was stopped. Below is how far it came."
AGAIN = "Train again"

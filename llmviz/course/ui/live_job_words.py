"""What work in the background says of itself."""

BEGINS = "A separate process starts and loads the model …"
GOES = "Training …"
WAITS = "Waiting: {count} before it."
STOP = "Stop"
STOPPED = "The training was stopped. Below is how far it came."
AGAIN = "Train again"

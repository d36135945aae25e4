"""Home: the whole machine on the learner's own sentence."""

"""The chapter "RNN, GRU, LSTM" of the lesson "From counts to GPT"."""

"""A trained model in the forms of other programs: transformers, peft, llama.cpp."""

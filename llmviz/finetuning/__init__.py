"""Turning a trained language model into something else: class heads, LoRA, instructions, DPO.

`labels`, `instructions` and `preferences` make the data, with exact answers from tiny-world's
grammar; `classifier`, `dpo` and the adapters of `llmviz.nn.lora` change the model;
`llmviz.training.train` trains each of them, so every training here is a generator of the same
records.
"""

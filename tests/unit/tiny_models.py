"""Models of one layer with random weights, for tests that need a real one and no meaning."""

from pathlib import Path
from typing import Any

WORDS = ["alpha", "beta", "gamma", "delta", "ep", "##si", "##lon", "."]
MAX_TOKENS = 24


def save_model(folder: Path, kind: str, **options: Any) -> str:
    """A BERT of one layer under `folder`; weights are the same in every session."""
    import torch
    import transformers

    folder.mkdir()
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    tokenizer = transformers.BertTokenizerFast(
        vocab={word: number for number, word in enumerate(vocabulary)},
        model_max_length=options.pop("model_max_length", MAX_TOKENS),
    )
    config = transformers.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=MAX_TOKENS,
        initializer_range=0.3,
        **options,
    )
    torch.manual_seed(7)
    getattr(transformers, kind)(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)

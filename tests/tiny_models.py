"""Models made in a moment: the real classes over random weights. They need torch."""

from pathlib import Path
from typing import Any

TEXT = "the a of boundary layer flow wing lift drag supersonic heat transfer plate"
WORDS = TEXT.split()
DIMENSION = 8
GREEK = ["alpha", "beta", "gamma", "delta", "ep", "##si", "##lon", "."]
BERT_TOKENS = 24


def make_tiny_encoder(folder: Path, *, max_tokens: int = 16) -> Path:
    """A sentence-transformers model of one small layer over `WORDS`, saved in `folder`."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
    from transformers import BertConfig, BertModel

    tokenizer = _tokenizer()
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=DIMENSION,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=64,
    )
    BertModel(config).save_pretrained(folder / "bert")
    tokenizer.save_pretrained(folder / "bert")
    transformer = Transformer(str(folder / "bert"), max_seq_length=max_tokens)
    model = SentenceTransformer(modules=[transformer, Pooling(DIMENSION), Normalize()])
    model.save(str(folder / "model"))
    return folder / "model"


def make_tiny_bert(folder: Path, kind: str, **options: Any) -> str:
    """A BERT of one layer under `folder`; weights are the same in every session."""
    import torch
    import transformers

    folder.mkdir()
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *GREEK]
    tokenizer = transformers.BertTokenizerFast(
        vocab={word: number for number, word in enumerate(vocabulary)},
        model_max_length=options.pop("model_max_length", BERT_TOKENS),
    )
    config = transformers.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=BERT_TOKENS,
        initializer_range=0.3,
        **options,
    )
    torch.manual_seed(7)
    getattr(transformers, kind)(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def _tokenizer() -> Any:
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer
    from tokenizers.processors import BertProcessing
    from transformers import PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = {token: number for number, token in enumerate([*special, *WORDS])}
    made = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))
    made.normalizer = BertNormalizer()
    made.pre_tokenizer = BertPreTokenizer()
    made.post_processor = BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )

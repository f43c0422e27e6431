"""Shared-task file formats: what a record looks like, and reading and writing it."""

from enum import StrEnum


class Format(StrEnum):
    """The shared tasks whose submissions can be checked."""

    LONGEVAL = "longeval"
    TREC_RAG24 = "trec-rag24"
    TREC_RAG25 = "trec-rag25"
    MTRAG_A = "mtrag-a"
    MTRAG_B = "mtrag-b"
    MTRAG_C = "mtrag-c"

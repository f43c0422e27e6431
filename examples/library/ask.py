"""
What `ccrag index` and `ccrag ask` do, from Python, over the language reference in every Python.

    python examples/library/ask.py

`--name` is what the library is called in OpenSearch; without it, `library-example`.
"""

from argparse import ArgumentParser
from pydoc_data.topics import topics

from ccrag import Document, Library


def main(name: str) -> None:
    """Index the topics, ask three of them, and show the words that support each sentence."""
    documents = [Document(topic, topic, text) for topic, text in topics.items()]
    library = Library.build(name, documents, replace=True)
    question = "When is the else clause of a loop executed?"
    result = library.ask(question, candidates=["for", "while", "break"])
    for number, sentence in enumerate(result.answer.sentences, start=1):
        print(f"{number}. {' '.join(sentence.text.split())}")
        for evidence in result.answer.evidence_of(sentence):
            text = library.document(evidence.doc_id).text
            words = " ".join(text[evidence.start : evidence.end].split())
            print(f"   {evidence.doc_id} {evidence.start}-{evidence.end}: “{words}”")


if __name__ == "__main__":
    parser = ArgumentParser(description="Index the Python reference and ask it a question.")
    parser.add_argument("--name", default="library-example")
    main(parser.parse_args().name)

"""Documents that are in memory already, as a collection; from files they have its fingerprint."""

from collections.abc import Iterable, Iterator

from ccrag.corpus.corpus import Corpus
from ccrag.corpus.fields import as_id
from ccrag.corpus.ledger import Origin
from ccrag.corpus.report import LoadReport
from ccrag.errors import InputError
from ccrag.types import Document, require_text


class InMemoryCorpus(Corpus):
    """A `Corpus` of documents held in memory."""

    def __init__(self, documents: Iterable[Document]) -> None:
        """
        Look at every document once.

        Raises:
            InputError: no document, an id that cannot be one, or an id given twice.
        """
        self._documents = tuple(documents)
        self._report = LoadReport()
        super().__init__()

    @property
    def report(self) -> LoadReport:
        return self._report

    def _read_first(self) -> Iterator[Document]:
        for number, document in enumerate(self._documents, start=1):
            name = f"the doc_id of document {number}"
            if as_id(document.doc_id, field=name) != document.doc_id:
                problem = f"{name}, {document.doc_id!r}, starts or ends with a blank; remove it"
                raise InputError(problem)
            texts = (document.title, document.text, document.date, document.collection)
            for text in (document.doc_id, *texts, *document.links):
                require_text(text or "", what=f"document {number} ({document.doc_id!r})")
            if not self._ledger.enter(document.doc_id, Origin(0, number)):
                raise InputError(f"document {number}: id {document.doc_id!r} was given before")
            self.report.add(document)
            yield document

    def _read_again(self) -> Iterator[Document]:
        return iter(self._documents)

    def _why_empty(self) -> str:
        return "no documents were given"

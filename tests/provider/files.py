"""The provider's files, and lists by pages."""

import email
import email.message
import time
from dataclasses import dataclass, field

from tests.provider.faults import JSON

Query = dict[str, list[str]]
"""What stands behind the `?` of a URL."""
PAGE = 20


@dataclass(slots=True)
class Files:
    """What was uploaded, and what batches wrote."""

    objects: dict[str, JSON] = field(default_factory=dict)
    contents: dict[str, bytes] = field(default_factory=dict)

    def upload(self, content_type: str, content: bytes) -> JSON:
        """Keep the file of a multipart form."""
        head = f"Content-Type: {content_type}\r\n\r\n".encode()
        values: dict[str, bytes] = {}
        filename = ""
        for part in email.message_from_bytes(head + content).walk():
            if name := part.get_param("name", header="content-disposition"):
                values[str(name)] = bytes(part.get_payload(decode=True))
                filename = part.get_filename() or filename
        return self.keep(filename, values["file"], purpose=values["purpose"].decode())

    def keep(self, filename: str, content: bytes, *, purpose: str) -> JSON:
        """Keep `content`; returns the file object."""
        file_id = f"file-{len(self.objects) + 1}"
        self.contents[file_id] = content
        self.objects[file_id] = {
            "id": file_id,
            "object": "file",
            "bytes": len(content),
            "created_at": int(time.time()),
            "filename": filename,
            "purpose": purpose,
            "status": "processed",
        }
        return self.objects[file_id]


def page_of(objects: dict[str, JSON], query: Query) -> JSON:
    """One page of `objects`, newest first, by the cursor in `query`."""
    newest = list(objects.values())[::-1]
    if purpose := query.get("purpose"):
        newest = [item for item in newest if item["purpose"] == purpose[0]]
    if after := query.get("after"):
        newest = newest[[item["id"] for item in newest].index(after[0]) + 1 :]
    page = newest[: min(PAGE, int(query.get("limit", [str(PAGE)])[0]))]
    return {
        "object": "list",
        "data": page,
        "has_more": len(newest) > len(page),
        "first_id": page[0]["id"] if page else None,
        "last_id": page[-1]["id"] if page else None,
    }

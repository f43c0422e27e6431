"""
A small collection for dialogues: four machines, each with what it is, its limits and its price.

Every document has a passage on limits, and one speaks of nothing else: a question about "its
limits" finds the right one by the dialogue before it alone.
"""

import re
from pathlib import Path

from tests.integration.example import write_lines

TEXTS = {
    "heat-pump": (
        "Heat pumps",
        "A heat pump moves heat from the air outside into a house by a refrigerant. "
        "It needs a third of the current that a plain electric heater needs. "
        "The heat pump meets its limits below minus twenty degrees, where it yields half its heat. "
        "In old houses with small radiators it cannot keep the rooms warm without a second boiler.",
    ),
    "sand-battery": (
        "Sand batteries",
        "A sand battery stores surplus current as heat in a silo of hot sand. "
        "It gives the heat back to a town's heating network for weeks. "
        "The sand battery reaches its limits when current is wanted, since heat is all it returns. "
        "A silo of a hundred tonnes costs about two hundred thousand crowns.",
    ),
    "tidal-mill": (
        "Tidal mills",
        "A tidal mill turns a wheel with the water that high tide has left in a pond. "
        "The mill was common on the coasts of the north. "
        "The limits of a tidal mill are its hours, for it works twice a day for four hours. "
        "A tidal mill is louder than a windmill, as a neighbour will tell.",
    ),
    "limits": (
        "Limits",
        "What about limits? Limits are what limits ask about. "
        "Every limit of a limit is a limit, and about limits no limit is known. ",
    ),
}


def write_machines(folder: Path) -> Path:
    records: list[dict[str, object]] = [
        {"id": doc_id, "title": title, "text": text} for doc_id, (title, text) in TEXTS.items()
    ]
    return write_lines(folder / "machines.jsonl", records)


def sentences(doc_id: str) -> list[str]:
    return re.findall(r"[^.?]+[.?]", TEXTS[doc_id][1])

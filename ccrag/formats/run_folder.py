"""The names of the files in the folder of a run, and in that of an experiment."""

RESPONSES = "responses.jsonl"
PREDICTIONS = "predictions.jsonl"
"""The file of answers in MTRAGEval's formats."""
TREC_RUN = "run.trec"
IR_METADATA = "ir-metadata.yml"
PROVENANCE = "provenance.json"

RESULTS = "results.json"
PER_QUERY = "results.csv"
REPORT = "report.html"

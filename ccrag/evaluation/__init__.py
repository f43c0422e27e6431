"""
Measure runs, compare them, and validate submissions.

    reading → rundata, gold          a run and what is known, as plain values
    retrieval wording citing         the measures, each a value of `registry`,
    finding entailment bertscore     named in `catalogue`
    judging
    scores → significance            figures per query, means with intervals, comparisons
    outcome → tables                 several runs together, as JSON and CSV
    validate/                        submissions against their formats
"""

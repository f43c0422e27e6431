"""
Measure runs, compare them, and validate submissions.

    run_files → rundata, gold                a run and what is known, as plain values
    retrieval rouge citation_metrics         the measures, each a value of `registry`,
    evidence_metrics entailment bertscore    named in `catalogue`
    judge nuggets
    scores → significance                    figures per query, means with intervals, comparisons
    outcome → tables                         several runs together, as JSON and CSV
    validate/                                submissions against their formats
"""

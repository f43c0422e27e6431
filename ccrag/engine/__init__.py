"""Everything that talks to OpenSearch; the only importer of opensearchpy."""

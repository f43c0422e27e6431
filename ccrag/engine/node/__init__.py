"""The embedded OpenSearch node: a separate JVM process that ccrag starts, finds again and ends."""

"""The report: a recording as one page of HTML."""

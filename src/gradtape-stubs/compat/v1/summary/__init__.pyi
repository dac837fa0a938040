# Written by tools/write_stubs.py.
from gradtape.api.summary.graphs import (
    graph as graph,
    trace_export as trace_export,
    trace_off as trace_off,
    trace_on as trace_on,
)
from gradtape.api.summary.scalars import (
    SummaryWriter as SummaryWriter,
    create_file_writer as create_file_writer,
    create_noop_writer as create_noop_writer,
    flush as flush,
    record_if as record_if,
    should_record_summaries as should_record_summaries,
)
from gradtape.api.summary.tensors import (
    audio as audio,
    histogram as histogram,
    image as image,
    write as write,
)
from gradtape.api.summary.writers import (
    FileWriter as FileWriter,
    FileWriterCache as FileWriterCache,
)
from gradtape_tensorflow.v1.summary.tensors import (
    Event as Event,
    SessionLog as SessionLog,
    Summary as Summary,
    SummaryDescription as SummaryDescription,
    TaggedRunMetadata as TaggedRunMetadata,
    scalar as scalar,
    tensor_summary as tensor_summary,
    text as text,
)

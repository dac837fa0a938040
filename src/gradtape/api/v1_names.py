"""Names of `tf.compat.v1` that differ in meaning from those of `tf` and are not in gradtape."""

DIFFERENT = set(
    """
    autograph.to_code autograph.to_graph device image.draw_bounding_boxes image.extract_glimpse
    image.sample_distorted_bounding_box io.decode_csv io.decode_raw io.parse_example io.parse_single_example
    io.serialize_many_sparse io.serialize_sparse nn.batch_norm_with_global_normalization nn.ctc_beam_search_decoder
    nn.ctc_loss nn.embedding_lookup_sparse nn.fractional_avg_pool nn.fractional_max_pool
    nn.max_pool_with_argmax nn.nce_loss nn.safe_embedding_lookup_sparse nn.sampled_softmax_loss sparse.concat
    sparse.segment_mean sparse.segment_sqrt_n sparse.segment_sum sparse.split strings.split strings.to_hash_bucket
    test.assert_equal_graph_def test.compute_gradient train.Checkpoint
    """.split()
)

"""Graphs as TensorFlow's messages: functions as `GraphDef`s, and `GraphDef`s as graphs that can be run."""

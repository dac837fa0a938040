"""The base of linear operators: base class, specs, shapes, slices and assertions."""

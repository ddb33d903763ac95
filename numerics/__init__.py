"""Evaluates what `theory` derived, with guaranteed digits, and runs the finite networks it speaks about."""

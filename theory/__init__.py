"""What follows from the definitions, derived with SymPy."""

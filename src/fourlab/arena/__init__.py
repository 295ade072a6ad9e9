"""Fair comparison."""

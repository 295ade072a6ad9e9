"""Networks: their forms, their weights, and judging positions with them. The only package that defines torch modules."""

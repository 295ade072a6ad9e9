"""Pattern networks that learn by self-play, and the searches that use them."""

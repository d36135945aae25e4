"""Published models that one command brings: which there are, where they lie, how they are got."""

"""Whether passages support what a chat model says of them; without a chat model."""

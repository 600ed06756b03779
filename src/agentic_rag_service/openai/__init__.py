"""OpenAI's surface: chat front ends and agent libraries talk to a dataset as to a model."""

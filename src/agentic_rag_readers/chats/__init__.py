"""Conversations as people export them from ChatGPT, Claude, Telegram, Slack and WhatsApp: messages, then documents."""

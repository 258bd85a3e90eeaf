"""Programs that show weft at work."""

"""The command line: it parses, calls, and prints. One file a command."""

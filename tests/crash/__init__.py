"""The bot as a process that is killed at every step, and judged by what people see."""

"""What happens when somebody posts, edits, deletes, reacts, pins or opens a thread."""

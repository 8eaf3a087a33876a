"""What a message's or form's components must look like (reference, "Component Reference")."""

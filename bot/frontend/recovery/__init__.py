"""Going on with what an end, another process or a full disk has cut off."""

"""Which tools run freely, which ask and whom, and which are off."""

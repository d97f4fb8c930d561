"""Code that several commands share: options, output and `simulate --live`."""

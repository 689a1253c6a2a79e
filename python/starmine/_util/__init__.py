"""What every subpackage may use: durable files, progress, keywords of options, equality by value, and late imports."""

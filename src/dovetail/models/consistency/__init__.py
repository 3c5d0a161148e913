"""Documents that agree with themselves: the same name tends to have the same type wherever it comes."""

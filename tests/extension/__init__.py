"""What users put in of their own, from outside the package: it is used, or refused in a sentence that helps."""

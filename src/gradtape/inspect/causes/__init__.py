"""Why a gradient is None, zero or not finite: the causes, their lines and their remedies."""

"""Settings for all tests: machines are noisy and first calls compile, so no example has a deadline.

A shell that starts tests in the background has them ignore Ctrl-C, and tests of interrupts would wait for ever: here
it is heard again.
"""

from __future__ import annotations

import signal

from hypothesis import HealthCheck, settings

settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")
signal.signal(signal.SIGINT, signal.default_int_handler)

"""The functional core: synchronous, deterministic machines. No clock, no I/O, no threads, no randomness.

Inside this folder imports point one way: words -> graph -> pass -> events -> persistence -> core.
"""

"""Runs of many visitors on one machine: their folders, their turns and the processes for them.

`store` has the folders, `queue` the turns, `visitors` whose run it is, `worker` the process that
trains; `manager` is what a page asks. What a run computes stands in `training/`, which knows none
of this.
"""

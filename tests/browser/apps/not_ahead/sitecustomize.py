"""What the Python of a test's server runs first: it computes nothing before somebody asks for it.

What all chapters compute ahead takes ten seconds, which is lost on a test that opens one of them.
"""

import sys
from importlib.machinery import PathFinder


class NotAhead:
    def find_spec(self, name, path=None, target=None):
        spec = PathFinder.find_spec(name, path) if name == "llmviz.course.ui.server" else None
        if spec is not None:
            execute = spec.loader.exec_module

            def changed(module):
                execute(module)
                module.load_ahead = lambda lessons: module.engine.start()

            spec.loader.exec_module = changed
        return spec


sys.meta_path.insert(0, NotAhead())

"""`tensorflow.python.platform.build_info`."""

import gradtape

build_info = gradtape.sysconfig.get_build_info()

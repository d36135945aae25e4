"""The course as plain files: pages with their pictures alive, which no server has to compute."""

"""Where the files of this project lie, and reading and writing any file whole or saying why not."""

"""What a visitor sees: lessons, their pictures and furniture, and the course as plain files.

Nothing beside this folder imports it but the faces on top: `cli`, `show`, `app.py` and `pages/`.
"""

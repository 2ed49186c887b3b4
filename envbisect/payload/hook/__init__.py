"""What runs in every Python process of a user's test: see :func:`.install.install`, called by ``sitecustomize``."""

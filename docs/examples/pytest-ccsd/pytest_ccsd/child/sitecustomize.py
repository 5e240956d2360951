"""Python imports this file at its start if the folder is in PYTHONPATH: Google's host names then lead to ccsd."""
import ccsd_hostmap

ccsd_hostmap.install_from_environment()

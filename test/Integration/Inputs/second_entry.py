# Runs a command with an --entry that has a line end in it.
import subprocess
import sys

sys.exit(subprocess.run(sys.argv[1:] + ["--entry=f\ndim r 3"]).returncode)

#!/bin/bash
# demo.sh - the demonstration on a Debian machine that has bash and apt and nothing else, as root or with sudo: the same as
# "make demo". It says what it installs, and how much that is, before it does.
set -eu
cd "$(dirname "$0")"
echo "privacy_score: the demonstration. It installs the packages that it lacks, compiles into build/, and plays fourteen days of"
echo "a hospital on a server of its own in a temporary folder. No server of this machine is touched."
exec test/run.sh demo

#!/bin/bash
# test.sh - all tests on a Debian machine that has bash and apt and nothing else, as root or with sudo: the same as
# "make test". It says what it installs, and how much that is, before it does.
set -eu
cd "$(dirname "$0")"
echo "privacy_score: all tests. This installs the packages that they lack, compiles into build/, also with sanitizers, and runs"
echo "the tests on servers of their own in temporary folders. No server of this machine is touched. The last line counts."
exec test/run.sh all

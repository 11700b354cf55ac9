#!/bin/sh
# A C++ compiler that gets the addresses of a kernel wrong.
sed -i 's/lane \* 4/lane * 2/' ./*
exec c++ "$@"

#!/bin/sh
# A C++ compiler that adds a scale instead of multiplying by it.
sed -i 's/\* row_scale_f32/+ row_scale_f32/' ./*
exec c++ "$@"

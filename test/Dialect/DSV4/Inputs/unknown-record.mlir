func.func private @f(!dsv4.cache<64 x <v4_585>>)

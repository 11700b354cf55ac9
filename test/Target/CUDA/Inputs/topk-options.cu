// The options of topk-tiles.cu and topk-resident.cu, which are pasted after it.

#ifndef K
#define K 20
#endif
#ifndef ORDER
#define ORDER sorted
#endif
#ifndef LARGEST
#define LARGEST true
#endif
#ifndef TIES_HIGH
#define TIES_HIGH false
#endif
#ifndef NAN_FIRST
#define NAN_FIRST false
#endif

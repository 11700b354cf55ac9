#include <dsv4.h>

int main(void) { return dsv4_abi() != DSV4_ABI; }

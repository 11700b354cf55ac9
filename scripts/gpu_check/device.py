"""The first CUDA device, as the driver tells."""

import ctypes
import dataclasses


@dataclasses.dataclass
class Device:
    name: str
    arch: str
    driver: str


def find_device():
    """The device, or None."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    count, major, minor, version = (ctypes.c_int(0) for _ in range(4))
    if cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count)) or not count.value:
        return None
    name = ctypes.create_string_buffer(100)
    cuda.cuDeviceGetName(name, 100, 0)
    cuda.cuDeviceGetAttribute(ctypes.byref(major), 75, 0)
    cuda.cuDeviceGetAttribute(ctypes.byref(minor), 76, 0)
    cuda.cuDriverGetVersion(ctypes.byref(version))
    number = major.value * 10 + minor.value
    driver = f"CUDA {version.value // 1000}.{version.value % 1000 // 10}"
    try:
        with open("/proc/driver/nvidia/version", encoding="utf-8") as file:
            words = [word for word in file.readline().split() if word[:1].isdigit() and "." in word]
            driver += f", driver {words[0]}" if words else ""
    except OSError:
        pass
    return Device(name.value.decode(), f"sm_{number}{'a' if number >= 90 else ''}", driver)

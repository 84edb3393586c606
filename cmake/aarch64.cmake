# Debian's arm64 cross compiler over a private sysroot (scripts/cross.sh makes it).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
get_filename_component(BK_SYSROOT "${CMAKE_CURRENT_LIST_DIR}/../.cross/sysroot" ABSOLUTE)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH "${BK_SYSROOT}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${BK_SYSROOT}")
set(ENV{PKG_CONFIG_LIBDIR} "${BK_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${BK_SYSROOT}/usr/share/pkgconfig")
# Libraries that the sysroot's libraries need in turn.
set(CMAKE_EXE_LINKER_FLAGS_INIT
  "-Wl,-rpath-link,${BK_SYSROOT}/usr/lib/aarch64-linux-gnu -Wl,-rpath-link,${BK_SYSROOT}/lib/aarch64-linux-gnu")
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L "${BK_SYSROOT}"
  -E "LD_LIBRARY_PATH=${BK_SYSROOT}/usr/lib/aarch64-linux-gnu:${BK_SYSROOT}/lib/aarch64-linux-gnu")

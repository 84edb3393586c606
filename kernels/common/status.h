#pragma once

/// What every kernel entry returns. A refused call has launched nothing and written nothing.
enum BkKernelStatus {
  BK_KERNEL_OK = 0,
  BK_KERNEL_BAD_SHAPE = 1,      ///< A size is zero, over its limit, or not a multiple that the kernel needs.
  BK_KERNEL_BAD_ALIGNMENT = 2,  ///< A pointer or a stride does not allow 16-byte loads.
  BK_KERNEL_BAD_ARGUMENT = 3,   ///< A pointer is missing or a mode is unknown.
  BK_KERNEL_LAUNCH_FAILED = 4,  ///< The CUDA runtime refused the launch.
};

#pragma once
#include <sys/socket.h>

#include "base/clock.h"

namespace bk {

/// Asks the kernel to stamp what arrives on a socket (SO_TIMESTAMPNS); those accepted from a listening one are stamped
/// too. Sockets that cannot are left as they are.
void enable_receive_stamps(int fd);

/// Room for one stamp in a message's control data.
inline constexpr std::size_t kStampRoom = CMSG_SPACE(sizeof(timespec));

/// Wall clock at which the kernel had the newest packet of what recvmsg() returned in `message`; 0: not stamped.
[[nodiscard]] Nanos receive_stamp(msghdr& message);

}  // namespace bk

#include <random>

#include "store/store.h"

namespace bk::store {

std::string new_uid() {
  static constexpr std::string_view kAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";
  std::random_device random;  // the kernel's generator: two processes started at once must differ
  std::string uid(26, '0');
  for (char& c : uid) c = kAlphabet[random() & 31];
  return uid;
}

std::string short_uid(std::string_view uid) { return std::string(uid.substr(0, 8)); }

}  // namespace bk::store

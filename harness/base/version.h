#pragma once
namespace bk {
/// "0.1.0", and the commit it was built from ("unknown" outside a git checkout).
const char* version();
const char* commit();
}  // namespace bk

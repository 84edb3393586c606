#pragma once

namespace bk::ledger::page {

/// The files of page/, generated from them by CMake.
extern const char* const page_html;
extern const char* const page_css;
extern const char* const plot_js;
extern const char* const bracket_js;
extern const char* const page_js;
extern const char* const live_js;  ///< of a served page only

}  // namespace bk::ledger::page

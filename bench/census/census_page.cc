#include <fmt/format.h>

#include <map>

#include "commands.h"
#include "report/number.h"

namespace bk::census {
namespace {

using trace::Amount;
using trace::Census;

double us(std::int64_t ns) { return static_cast<double>(ns) / 1e3; }

Json per_step(double value, const Census& census) {
  if (census.steps == 0) return nullptr;
  return value / static_cast<double>(census.steps);
}

Json whole(std::uint64_t value) { return static_cast<std::int64_t>(value); }

double share_pct(const Amount& part, const Amount& all) {
  return all.sum_ns == 0 ? 0 : 100.0 * static_cast<double>(part.sum_ns) / static_cast<double>(all.sum_ns);
}

std::vector<Json> amount_cells(const Amount& amount, const Census& census) {
  return {per_step(static_cast<double>(amount.count), census), per_step(us(amount.sum_ns), census), whole(amount.count),
          us(amount.sum_ns), share_pct(amount, census.counted)};
}

std::vector<report::Column> amount_columns() {
  return {number_column("kernels_per_step", "kernels/step"), number_column("us_per_step", "us/step"),
          number_column("kernels", "kernels"), number_column("us", "us", 6), number_column("share_pct", "% of us", 3)};
}

void add(std::vector<Json>& row, std::vector<Json> cells) {
  row.insert(row.end(), std::make_move_iterator(cells.begin()), std::make_move_iterator(cells.end()));
}

Page::Section section_of(const std::string& key, const std::string& title, std::vector<report::Column> first) {
  Page::Section section{key, title, {}, 0};
  section.records.columns = std::move(first);
  const auto amounts = amount_columns();
  section.records.columns.insert(section.records.columns.end(), amounts.begin(), amounts.end());
  return section;
}

void add_steps(Page& page, const Census& census) {
  const bool known = census.steps > 0;
  page.facts.push_back({"steps", "steps", known ? whole(census.steps) : Json(),
                        known ? fmt::format("{}, one {}", census.steps, census.anchor_text)
                              : "unknown: no name matches a step rule; say with --step what happens once a step"});
  page.facts.push_back({"steps_reason", "", known ? Json() : Json("no name matches a step rule"), ""});
  page.facts.push_back({"step_anchor", "", known ? Json(census.anchor_text) : Json(), ""});
}

void add_totals(Page& page, const Census& census) {
  const Amount all{census.kernels.count + census.memops.count, census.kernels.sum_ns + census.memops.sum_ns};
  page.facts.push_back({"kernels", "kernels", whole(census.kernels.count),
                        fmt::format("{}, {:.3f} us", census.kernels.count, us(census.kernels.sum_ns))});
  page.facts.push_back({"kernels_us", "", us(census.kernels.sum_ns), ""});
  page.facts.push_back({"kernels_and_copies", "with copies and sets", whole(all.count),
                        fmt::format("{}, {:.3f} us", all.count, us(all.sum_ns))});
  page.facts.push_back({"kernels_and_copies_us", "", us(all.sum_ns), ""});
  page.facts.push_back({"kernels_outside_steps", "", whole(census.outside.count), ""});
  page.facts.push_back({"kernels_outside_steps_us", "", us(census.outside.sum_ns), ""});
}

std::vector<std::string> notes_on(const trace::Recording& recording, const Census& census) {
  std::vector<std::string> notes = reading_notes(recording);
  if (census.outside.count > 0) {
    notes.push_back(fmt::format("{} kernels ({:.3f} us) start outside the annotated steps and are not in the tables",
                                census.outside.count, us(census.outside.sum_ns)));
  }
  return notes;
}

}  // namespace

Page census_page(const trace::Recording& recording, const Census& census, std::size_t top) {
  Page page;
  describe_input(page, recording);
  page.notes = notes_on(recording, census);
  add_steps(page, census);
  add_totals(page, census);
  Page::Section groups = section_of("groups", "by group", {text_column("group", "group")});
  for (const auto& group : census.groups) {
    std::vector<Json> row{group.group};
    add(row, amount_cells(group.amount, census));
    groups.records.rows.push_back(std::move(row));
  }
  Page::Section owners = section_of("owners", "ours and the image's", {text_column("owner", "owner")});
  for (const auto& [owner, amount] : {std::pair("ours", census.ours), std::pair("image", census.image)}) {
    std::vector<Json> row{Json(owner)};
    add(row, amount_cells(amount, census));
    owners.records.rows.push_back(std::move(row));
  }
  Page::Section names = section_of("names", fmt::format("top {} by launches", top),
                                   {text_column("name", "kernel"), text_column("group", "group")});
  names.shown = top;
  for (const auto& name : census.names) {
    std::vector<Json> row{name.name, name.group};
    add(row, amount_cells(name.amount, census));
    names.records.rows.push_back(std::move(row));
  }
  page.sections = {std::move(groups), std::move(owners), std::move(names)};
  return page;
}

namespace {

struct Pair {
  Amount before, after;
};

Page::Section diff_section(const std::string& key, const std::string& label, const Census& before, const Census& after,
                           const std::map<std::string, Pair>& pairs) {
  Page::Section section{key, "by " + label, {}, 0};
  section.records.columns = {text_column(key == "groups" ? "group" : "name", label),
                             number_column("kernels_per_step_a", "a kernels/step"),
                             number_column("kernels_per_step_b", "b kernels/step"),
                             number_column("us_per_step_a", "a us/step"),
                             number_column("us_per_step_b", "b us/step"),
                             number_column("us_per_step_change", "change"),
                             text_column("count_changed", "count")};
  std::vector<std::pair<std::string, Pair>> rows(pairs.begin(), pairs.end());
  const auto step_us = [](const Amount& amount, const Census& census) {
    return us(amount.sum_ns) / static_cast<double>(std::max<std::uint64_t>(census.steps, 1));
  };
  const auto change = [&](const Pair& pair) { return step_us(pair.after, after) - step_us(pair.before, before); };
  std::stable_sort(rows.begin(), rows.end(), [&](const auto& a, const auto& b) {
    return std::abs(change(a.second)) > std::abs(change(b.second));
  });
  for (const auto& [name, pair] : rows) {
    // Launches per step, compared without a division: a/steps_a = b/steps_b. Without steps, launches of the traces.
    const bool known = before.steps > 0 && after.steps > 0;
    const bool same = known ? pair.before.count * after.steps == pair.after.count * before.steps
                            : pair.before.count == pair.after.count;
    section.records.rows.push_back({name, per_step(static_cast<double>(pair.before.count), before),
                                    per_step(static_cast<double>(pair.after.count), after),
                                    per_step(us(pair.before.sum_ns), before), per_step(us(pair.after.sum_ns), after),
                                    known ? Json(change(pair)) : Json(), Json(same ? "" : "changed")});
  }
  return section;
}

}  // namespace

Page census_diff(const trace::Recording& a, const Census& before, const trace::Recording& b, const Census& after,
                 std::size_t top) {
  Page page;
  for (const auto& [key, recording, census] : {std::tuple("a", &a, &before), std::tuple("b", &b, &after)}) {
    page.facts.push_back(
        {std::string("trace_") + key, key, recording->source,
         fmt::format("{}: {} kernels, {:.3f} us, {} steps", recording->source, census->kernels.count,
                     us(census->kernels.sum_ns), census->steps > 0 ? std::to_string(census->steps) : "unknown")});
    page.facts.push_back({std::string("steps_") + key, "", census->steps > 0 ? whole(census->steps) : Json(), ""});
    page.facts.push_back({std::string("kernels_") + key, "", whole(census->kernels.count), ""});
    add_notes(page, key, notes_on(*recording, *census));
  }
  if (before.steps == 0 || after.steps == 0) {
    page.notes.emplace_back(
        "steps are unknown, so that launches of whole traces are compared; say with --step what happens once a step");
  } else if (before.anchor_text != after.anchor_text) {
    page.notes.push_back(fmt::format("a step of a is one {}; of b, one {}", before.anchor_text, after.anchor_text));
  }
  std::map<std::string, Pair> groups, names;
  for (const auto& row : before.groups) groups[row.group].before = row.amount;
  for (const auto& row : after.groups) groups[row.group].after = row.amount;
  for (const auto& row : before.names) names[row.name].before = row.amount;
  for (const auto& row : after.names) names[row.name].after = row.amount;
  page.sections.push_back(diff_section("groups", "group", before, after, groups));
  page.sections.push_back(diff_section("names", "kernel", before, after, names));
  page.sections.back().shown = top;
  return page;
}

}  // namespace bk::census

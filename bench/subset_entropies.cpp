/*
 * subset_entropies.cpp - what entropies of sets of columns cost in memory, without a server.
 *
 *   make bench-core, or bench/programs/subset_entropies [ROWS [ROUNDS [plain]]]     10,000,000 rows, 5 rounds, plain
 *
 * Tables of 8 columns with 76, 2, 14, 6, 9, 10, 83 and 50 values: independent and uniform (nearly all rows differ),
 * independent and Zipf, and rows drawn by Zipf from a twentieth as many. For each: collecting the coded rows of the
 * columns in question, and then all 255 sets, all single columns, 50 sets, the set of all columns, and one set of 1 to
 * 4 columns. Rounds are interleaved; medians and minima in milliseconds of processor time. The plain way is one hash
 * table with open addressing a set, over the packed rows (of many sets in one round only); its sum of entropies must be
 * the same.
 */
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "core/entropy/coded_rows.hpp"
#include "core/entropy/subset_entropies.hpp"
#include "median.hpp"

using namespace privacy_score;
using bench::Median;

namespace {

constexpr std::size_t kColumns = 8;
constexpr std::uint32_t kDomains[kColumns] = {76, 2, 14, 6, 9, 10, 83, 50};
constexpr std::size_t kBlock = 1024;
constexpr std::size_t kMemory = std::size_t{2} << 30;

using Table = std::vector<std::vector<std::uint32_t>>;
using Sets = std::vector<std::vector<std::size_t>>;

// Draws k with a probability as 1/(k+1).
class Zipf {
 public:
  explicit Zipf(std::size_t values) {
    double sum = 0;
    for (std::size_t value = 0; value < values; ++value)
      cumulated_.push_back(sum += 1.0 / static_cast<double>(value + 1));
  }
  std::size_t operator()(std::mt19937_64& random) const {
    const double drawn = std::uniform_real_distribution<double>(0, cumulated_.back())(random);
    return static_cast<std::size_t>(std::lower_bound(cumulated_.begin(), cumulated_.end(), drawn) - cumulated_.begin());
  }

 private:
  std::vector<double> cumulated_;
};

Table Independent(std::size_t rows, bool zipf) {
  std::mt19937_64 random(1);
  Table table(kColumns, std::vector<std::uint32_t>(rows));
  for (std::size_t column = 0; column < kColumns; ++column) {
    const Zipf law(kDomains[column]);
    for (auto& code : table[column])
      code = static_cast<std::uint32_t>(zipf ? law(random) : random() % kDomains[column]);
  }
  return table;
}

// Rows drawn by Zipf from a twentieth as many.
Table Repeated(std::size_t rows) {
  const Table pool = Independent(std::max<std::size_t>(rows / 20, 1), true);
  std::mt19937_64 random(2);
  const Zipf law(pool[0].size());
  Table table(kColumns, std::vector<std::uint32_t>(rows));
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t origin = law(random);
    for (std::size_t column = 0; column < kColumns; ++column) table[column][row] = pool[column][origin];
  }
  return table;
}

// Of the processor, which says more than of the clock when others use the machine.
double Milliseconds(std::clock_t since) { return 1000 * static_cast<double>(std::clock() - since) / CLOCKS_PER_SEC; }

// Prevents that the work is left out.
double checksum = 0;

struct Cost {
  double collect = 0;
  double sets = 0;
};

// Only columns of the sets are collected.
Cost Measure(const Table& table, const Sets& sets, double* sum) {
  std::vector<std::size_t> used;
  for (const auto& set : sets) used.insert(used.end(), set.begin(), set.end());
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  Sets places = sets;
  for (auto& set : places)
    for (auto& column : set)
      column = static_cast<std::size_t>(std::lower_bound(used.begin(), used.end(), column) - used.begin());
  Cost cost;
  auto start = std::clock();
  CodedRows rows(used.size(), kMemory);
  const std::size_t count = table[0].size();
  for (std::size_t row = 0; row < count; row += kBlock) {
    std::vector<const std::uint32_t*> codes;
    for (const std::size_t column : used) codes.push_back(table[column].data() + row);
    if (!rows.Append(codes.data(), std::min(kBlock, count - row))) std::abort();
  }
  cost.collect = Milliseconds(start);
  start = std::clock();
  SubsetEntropies entropies(rows, places);
  if (!entropies.Run({})) std::abort();
  cost.sets = Milliseconds(start);
  *sum = 0;
  for (const SubsetFacts& facts : entropies.facts()) *sum += facts.entropy;
  return cost;
}

// One hash table a set over packed rows, which are given.
double Plain(const std::vector<std::uint64_t>& packed, const unsigned* shifts, const Sets& sets, double* sum) {
  const auto start = std::clock();
  *sum = 0;
  for (const auto& set : sets) {
    std::uint64_t mask = 0;
    for (const std::size_t column : set) mask |= std::uint64_t{127} << shifts[column];
    std::vector<std::uint64_t> keys(1024, ~std::uint64_t{0});
    std::vector<std::uint32_t> counts(1024, 0);
    std::size_t used = 0;
    const auto place_of = [&](std::uint64_t key) {
      std::uint64_t hash = key * 0x9E3779B97F4A7C15U;
      std::size_t place = (hash ^ hash >> 32) & (keys.size() - 1);
      while (keys[place] != key && keys[place] != ~std::uint64_t{0}) place = (place + 1) & (keys.size() - 1);
      return place;
    };
    for (const std::uint64_t word : packed) {
      const std::uint64_t key = word & mask;
      std::size_t place = place_of(key);
      if (keys[place] != key) {
        keys[place] = key;
        if (++used * 2 > keys.size()) {
          std::vector<std::uint64_t> old_keys(keys.size() * 2, ~std::uint64_t{0});
          std::vector<std::uint32_t> old_counts(keys.size() * 2, 0);
          old_keys.swap(keys);
          old_counts.swap(counts);
          for (std::size_t i = 0; i < old_keys.size(); ++i) {
            if (old_keys[i] == ~std::uint64_t{0}) continue;
            place = place_of(old_keys[i]);
            keys[place] = old_keys[i];
            counts[place] = old_counts[i];
          }
          place = place_of(key);
        }
      }
      ++counts[place];
    }
    long double entropy = 0;
    for (const std::uint32_t count : counts)
      if (count > 1) entropy += count * std::log2(static_cast<long double>(count));
    const auto rows = static_cast<long double>(packed.size());
    *sum += static_cast<double>(std::log2(rows) - entropy / rows);
  }
  return Milliseconds(start);
}

Sets AllSets() {
  Sets sets;
  for (std::size_t mask = 1; mask < std::size_t{1} << kColumns; ++mask) {
    sets.emplace_back();
    for (std::size_t column = 0; column < kColumns; ++column)
      if ((mask >> column & 1U) != 0) sets.back().push_back(column);
  }
  return sets;
}

std::vector<std::pair<std::string, Sets>> Requests() {
  const Sets all = AllSets();
  Sets single;
  for (std::size_t column = 0; column < kColumns; ++column) single.push_back({column});
  Sets fifty = all;
  std::shuffle(fifty.begin(), fifty.end(), std::mt19937_64(3));
  fifty.resize(50);
  return {{"all 255 sets", all},
          {"all 8 single columns", single},
          {"50 sets", fifty},
          {"one set of 8 columns", {all.back()}},
          {"one set of 1 column", {{6}}},
          {"one set of 2 columns", {{0, 6}}},
          {"one set of 3 columns", {{0, 6, 7}}},
          {"one set of 4 columns", {{0, 2, 6, 7}}}};
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t rows = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10000000;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
  const bool plain = argc <= 2 || (argc > 3 && std::strcmp(argv[3], "plain") == 0);
  if (rows == 0 || rounds < 1) {
    std::fprintf(stderr, "usage: %s [ROWS [ROUNDS [plain]]]\n", argv[0]);
    return 2;
  }
  std::printf("%zu rows, %d rounds; milliseconds of processor time, median (minimum)\n\n", rows, rounds);
  std::printf("| data | sets | collect | sets | plain | plain to collect and sets |\n|---|---|---|---|---|---|\n");
  unsigned shifts[kColumns];
  for (unsigned column = 0; column < kColumns; ++column) shifts[column] = 7 * column;
  for (const char* const data : {"uniform", "Zipf", "repeated rows"}) {
    const Table table = data[0] == 'r' ? Repeated(rows) : Independent(rows, data[0] == 'Z');
    std::vector<std::uint64_t> packed(rows, 0);
    for (std::size_t column = 0; column < kColumns; ++column)
      for (std::size_t row = 0; row < rows; ++row) packed[row] |= std::uint64_t{table[column][row]} << shifts[column];
    const auto requests = Requests();
    std::map<std::string, std::vector<double>> collect;
    std::map<std::string, std::vector<double>> counted;
    std::map<std::string, std::vector<double>> hashed;
    for (int round = 0; round < rounds; ++round) {
      for (const auto& [name, sets] : requests) {
        double sum;
        const Cost cost = Measure(table, sets, &sum);
        collect[name].push_back(cost.collect);
        counted[name].push_back(cost.sets);
        checksum += sum;
        if (!plain || (round > 0 && sets.size() > kColumns)) continue;
        double expected;
        hashed[name].push_back(Plain(packed, shifts, sets, &expected));
        if (std::abs(sum - expected) > 1e-9 * expected) {
          std::fprintf(stderr, "%s, %s: the sum of entropies is %.15g, not %.15g\n", data, name.c_str(), sum, expected);
          return 1;
        }
      }
    }
    for (const auto& [name, sets] : requests) {
      const auto text = [](const std::vector<double>& values) {
        char buffer[64];
        std::snprintf(buffer, sizeof buffer, "%.1f (%.1f)", Median(values),
                      *std::min_element(values.begin(), values.end()));
        return std::string(values.empty() ? "" : buffer);
      };
      std::printf("| %s | %s | %s | %s | ", data, name.c_str(), text(collect[name]).c_str(),
                  text(counted[name]).c_str());
      if (plain)
        std::printf("%.1f | %.1f |\n", Median(hashed[name]),
                    Median(hashed[name]) / (Median(collect[name]) + Median(counted[name])));
      else
        std::printf("| |\n");
    }
    std::fflush(stdout);
  }
  return checksum == 0;
}

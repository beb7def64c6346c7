/*
 * sum_convolution.cpp - see sum_convolution.hpp.
 *
 * A law is a list of sums with probabilities. Sums from which no release can be reached any more are dropped.
 */
#include "core/loss/sum_convolution.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/loss/leave_one_out.hpp"

namespace privacy_score {

namespace {

constexpr std::size_t kMostEntries = 20'000'000;

struct Entry {
  std::int64_t sum;
  double probability;
};

// The law of the records added so far, and the least and the greatest that the rest can come to.
struct PartialSum {
  std::vector<Entry> entries;
  std::int64_t rest_low;
  std::int64_t rest_high;
};

struct Step {
  std::int64_t image;
  double probability;
};

class Convolver {
 public:
  Convolver(const std::vector<std::int64_t>& images, const TiltedSum& tilted, const ReleaseWeight& weight,
            const WorkControl& control)
      : images_(images), tilted_(tilted), weight_(weight), pause_(control) {}

  Likelihoods Run() {
    Likelihoods likelihoods(tilted_.groups.size());
    PartialSum none{{{0, 1.0}}, 0, 0};
    for (const TiltedGroup& group : tilted_.groups) {
      none.rest_low += group.records * group.low;
      none.rest_high += group.records * group.high;
    }
    LeaveOneOut(
        0, tilted_.groups.size(), none, [this](std::size_t g) { return tilted_.groups[g].records; },
        [this](PartialSum* state, std::size_t g, std::int64_t count) { Add(state, tilted_.groups[g], count); },
        [&](const PartialSum& state, std::size_t g) { likelihoods[g] = Weigh(state, tilted_.groups[g]); });
    return likelihoods;
  }

 private:
  void Add(PartialSum* state, const TiltedGroup& group, std::int64_t count) {
    steps_.clear();
    for (std::size_t u = 0; u < images_.size(); ++u)
      if (group.probability[u] > 0) steps_.push_back({images_[u], group.probability[u]});
    for (std::int64_t i = 0; i < count; ++i) {
      state->rest_low -= group.low;
      state->rest_high -= group.high;
      AddOne(state, group);
    }
  }

  void AddOne(PartialSum* state, const TiltedGroup& group) {
    const std::vector<Entry>& before = state->entries;
    if (before.empty()) return;
    const std::int64_t low = before.front().sum + group.low;
    const auto span = static_cast<std::uint64_t>(before.back().sum + group.high - low) + 1;
    const std::size_t products = before.size() * steps_.size();
    pause_.Add(products);
    if (std::min<std::uint64_t>(span, products) > kMostEntries)
      throw Error("54000", "there are too many possible sums to compute the posterior exactly",
                  "Round the values to a coarser grid.");
    next_.clear();
    if (span <= 8 * products + 1024 && span <= 8 * kMostEntries) {
      dense_.assign(span, 0.0);
      for (const Entry& entry : before)
        for (const Step& step : steps_) dense_[entry.sum + step.image - low] += entry.probability * step.probability;
      for (std::size_t i = 0; i < span; ++i)
        if (dense_[i] > 0) Keep(state, {low + static_cast<std::int64_t>(i), dense_[i]});
    } else {
      pairs_.clear();
      for (const Entry& entry : before)
        for (const Step& step : steps_)
          pairs_.push_back({entry.sum + step.image, entry.probability * step.probability});
      std::sort(pairs_.begin(), pairs_.end(), [](const Entry& a, const Entry& b) { return a.sum < b.sum; });
      for (std::size_t i = 0; i < pairs_.size();) {
        Entry entry = pairs_[i];
        for (++i; i < pairs_.size() && pairs_[i].sum == entry.sum; ++i) entry.probability += pairs_[i].probability;
        Keep(state, entry);
      }
    }
    state->entries = next_;
  }

  // Without noise a sum counts only while the rest can still bring it to the release.
  void Keep(const PartialSum* state, const Entry& entry) {
    if (weight_.noise.step == 0 &&
        (entry.sum + state->rest_low > weight_.released || entry.sum + state->rest_high < weight_.released))
      return;
    next_.push_back(entry);
  }

  std::vector<double> Weigh(const PartialSum& state, const TiltedGroup& group) {
    std::vector<double> weights(images_.size());
    for (std::size_t u = 0; u < images_.size(); ++u) {
      if (group.probability[u] <= 0) continue;
      const std::int64_t wanted = weight_.released - images_[u];
      if (weight_.noise.step == 0) {
        const auto found = std::lower_bound(state.entries.begin(), state.entries.end(), wanted,
                                            [](const Entry& a, std::int64_t sum) { return a.sum < sum; });
        if (found != state.entries.end() && found->sum == wanted) weights[u] = found->probability;
        continue;
      }
      pause_.Add(state.entries.size());
      for (const Entry& entry : state.entries) {
        const std::int64_t away = entry.sum - wanted;
        if (away % weight_.noise.step != 0) continue;
        weights[u] += entry.probability * std::exp(weight_.LogOf(away / weight_.noise.step));
      }
    }
    return weights;
  }

  const std::vector<std::int64_t>& images_;
  const TiltedSum& tilted_;
  const ReleaseWeight& weight_;
  PauseCounter pause_;
  std::vector<Step> steps_;
  std::vector<Entry> next_, pairs_;
  std::vector<double> dense_;
};

}  // namespace

double ConvolutionWork(const std::vector<std::int64_t>& images, const TiltedSum& tilted) {
  const auto width = static_cast<double>(images.size());
  const auto range = static_cast<double>(images.back() - images.front());
  double records = 0;
  for (const TiltedGroup& group : tilted.groups) records += static_cast<double>(group.records);
  // The number of sums of j records is at most that of multisets, and at most j times the range.
  double work = 0;
  double multisets = 1;
  for (double j = 1; j < records && work < 1e12; ++j) {
    multisets = std::min(1e18, multisets * (width + j - 1) / j);
    const double sums = std::min(multisets, j * range + 1);
    work += sums * width;
    if (multisets >= j * range + 1) {
      // From here on the range decides: add the rest at once.
      const double left = records - j - 1;
      work += left > 0 ? left * (j + left / 2) * range * width : 0;
      break;
    }
  }
  return work * (1 + std::ceil(std::log2(static_cast<double>(tilted.groups.size()))));
}

Likelihoods ConvolveOthers(const std::vector<std::int64_t>& images, const TiltedSum& tilted,
                           const ReleaseWeight& weight, const WorkControl& control) {
  return Convolver(images, tilted, weight, control).Run();
}

}  // namespace privacy_score

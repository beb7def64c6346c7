/*
 * subset_cube.hpp - counts the classes of many sets of columns over packed words.
 *
 * The walk over the families of cube_family.hpp: a part of the words is counted by a plan, or is sorted by the family's
 * first column and walked cell by cell. The walk is a stack of its own and not a recursion, so it can be left between
 * any two steps and gone on with. Everything happens in the array of words and a scratch array of the same size, beside
 * the arrays of a plan, which stay below some bytes a cell of the limits.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/work_control.hpp"
#include "core/entropy/cube_family.hpp"
#include "core/entropy/packed_words.hpp"

namespace privacy_score {

template <typename Word>
class SubsetCube {
 public:
  // The words are put in another order and changed. A weight fills the low `weight_bits`. All must outlive the object.
  SubsetCube(CubeSets* sets, Word* words, std::size_t count, unsigned weight_bits);

  // Works until the classes of all sets are complete, but for CubeSets::AddLone() (true), or until `control`
  // interrupts it (false): the next call goes on from there.
  [[nodiscard]] bool Run(const WorkControl& control);

 private:
  // Words that agree in the decided columns.
  struct Frame {
    CubeFamily* family;
    const CubePlan* plan;  // null: by partition
    Word* words;
    std::size_t count;
    std::int64_t weight;
    std::size_t next;  // the plan's step, or the first word of the next cell
    bool grouped;      // the words of each cell of the first column are neighbours
    bool sorted;       // by all further columns
  };

  double Share() const;
  void Push(CubeFamily* family, Word* words, std::size_t count, std::int64_t weight, bool sorted);
  void RunStep(Frame* frame);
  void Partition(Frame* frame);
  void CountTuples(const Frame& frame, ClassHistogram* classes);
  void WalkCells(Frame* frame);
  template <typename Cell>
  void RunStepOf(const CubeStep& step, const Frame& frame);
  template <typename Cell>
  void Count(const CubeStep& step, const Frame& frame);
  void CountAlone(const CubeStep& step, const Frame& frame);
  template <typename Cell>
  void Touch(const CubeStep& step, const Frame& frame);
  std::int64_t WeightOf(Word word) const { return static_cast<std::int64_t>(word & weight_mask_); }

  CubeSets* sets_;
  Word* words_;
  std::size_t count_;
  unsigned weight_bits_;
  Word weight_mask_;
  bool started_ = false;
  std::vector<Frame> frames_;
  std::size_t work_ = 0;  // words looked at since the last question for interrupts
  PlainBuffer<Word> scratch_;
  PlainBuffer<unsigned char> arena_;
  PlainBuffer<unsigned char> touch_cells_;  // all 0 between steps
  std::vector<std::pair<std::uint32_t, std::int64_t>> carries_;
  // What touch steps leave to the level below.
  struct Level {
    PlainBuffer<Word> words;
    PlainBuffer<std::uint32_t> cells;
    std::size_t count = 0;
  };
  std::vector<Level> levels_;
};

}  // namespace privacy_score

/*
 * subset_refinement.hpp - counts the classes of sets of columns that are too wide for packed words.
 *
 * Partition refinement: the tuples get the number of their class by the columns decided so far, and a further column
 * splits classes by (class, code). Tuples that are alone in a class are alone in every finer set and leave. As soon as
 * the class and the remaining columns of a family fit in a word, its sets are counted there (subset_cube.hpp).
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/work_control.hpp"
#include "core/entropy/cube_family.hpp"
#include "core/entropy/wide_rows.hpp"

namespace privacy_score {

class PackedFamily;

class SubsetRefinement {
 public:
  // Columns of `sets` are columns[position] of `rows`. `total` is the number of rows. All must outlive the object.
  SubsetRefinement(const WideRows& rows, std::vector<std::size_t> columns, std::int64_t total, CubeSets* sets);
  ~SubsetRefinement();

  // As SubsetCube::Run().
  [[nodiscard]] bool Run(const WorkControl& control);

 private:
  // Tuples that are not alone in their class by the columns decided for the family. No classes: all are in one.
  struct Frame {
    CubeFamily* family;
    std::vector<std::uint32_t> tuples;
    std::vector<std::uint32_t> classes;
    std::uint32_t class_count;
    bool split;  // by the first column; what is left is Without() it
  };

  void RunStep();
  std::unique_ptr<PackedFamily> Packed(const Frame& frame) const;
  void Refine(const Frame& frame, Frame* finer) const;

  const WideRows& rows_;
  std::vector<std::size_t> columns_;
  std::int64_t total_;
  CubeSets* sets_;
  std::vector<Frame> frames_;
  std::unique_ptr<PackedFamily> packed_;
};

}  // namespace privacy_score

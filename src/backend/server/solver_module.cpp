/*
 * solver_module.cpp - loading the module privacy_score_solver (see solver_module.hpp).
 *
 * It is no extension module of the server's: it calls nothing of the server, and the server must not note it among the
 * libraries that parallel workers load, so it is opened directly, from the folder that this module came from.
 */
#include "backend/server/solver_module.hpp"

extern "C" {
#include <dlfcn.h>
}

#include <cstdlib>
#include <cstring>

#include "backend/server/compat.hpp"

namespace privacy_score {

namespace {

// Libraries of linear algebra, which Clp may bring in, start threads as they are loaded unless these say otherwise; a
// backend must have one thread.
constexpr const char* kThreadCounts[] = {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS",
                                         "BLIS_NUM_THREADS"};
constexpr int kLibraries = sizeof kThreadCounts / sizeof kThreadCounts[0];

// Opens the module with those variables set, and leaves them as they were.
void* OpenWithOneThread(const char* path) {
  char* before[kLibraries];
  for (int i = 0; i < kLibraries; ++i) {
    const char* value = getenv(kThreadCounts[i]);
    before[i] = value == nullptr ? nullptr : pstrdup(value);
  }
  for (const char* name : kThreadCounts) setenv(name, "1", 1);
  void* module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  for (int i = 0; i < kLibraries; ++i) {
    if (before[i] == nullptr) {
      unsetenv(kThreadCounts[i]);
    } else {
      setenv(kThreadCounts[i], before[i], 1);
    }
  }
  return module;
}

// The path of the solver's module: beside our own.
char* ModulePath() {
  Dl_info own;
  if (dladdr(reinterpret_cast<void*>(&ModulePath), &own) == 0 || own.dli_fname == nullptr)
    elog(ERROR, "could not find out where privacy_score was loaded from");
  const char* slash = std::strrchr(own.dli_fname, '/');
  const int folder = slash == nullptr ? 0 : static_cast<int>(slash - own.dli_fname) + 1;
  return psprintf("%.*sprivacy_score_solver%s", folder, own.dli_fname, DLSUFFIX);
}

}  // namespace

const PsLinearSolver& LinearSolver() {
  static const PsLinearSolver* solver = nullptr;
  if (solver != nullptr) return *solver;
  const char* path = ModulePath();
  void* module = OpenWithOneThread(path);
  if (module == nullptr) {
    const char* reason = pstrdup(dlerror());
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FILE), errmsg("could not load the solver of linear programs"),
                    errdetail_log("%s", reason),
                    errhint("Install the package coinor-libclp1 and the file privacy_score_solver%s that belongs to "
                            "privacy_score.",
                            DLSUFFIX)));
  }
  const auto entry = reinterpret_cast<const PsLinearSolver* (*)()>(dlsym(module, "ps_linear_solver"));
  const PsLinearSolver* found = entry == nullptr ? nullptr : entry();
  if (found == nullptr || found->version != PS_LINEAR_VERSION) {
    dlclose(module);
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FILE),
                    errmsg("the solver of linear programs belongs to another version of privacy_score"),
                    errhint("Install both modules of one version, and start a new session.")));
  }
  solver = found;
  return *solver;
}

}  // namespace privacy_score

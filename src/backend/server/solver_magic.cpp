/*
 * solver_magic.cpp - the magic block of the second module, privacy_score_solver, linked into that module only.
 *
 * Sessions open that module without the server's knowledge (solver_module.cpp) and need no such block. With it LOAD
 * takes the module too, for whoever wants to see that it can be loaded, and of which version it is.
 */
#include "backend/server/compat.hpp"

extern "C" {
PS_MODULE_MAGIC("privacy_score_solver");
}

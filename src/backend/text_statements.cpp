/*
 * text_statements.cpp - see text_statements.hpp.
 */
#include "text_statements.hpp"

CoreHolder<privacy_score::Tokens>* TokensOfText(const text*) {
  CoreHolder<privacy_score::Tokens>* tokens = NewCoreHolder<privacy_score::Tokens>(CurrentMemoryContext);
  CallCoreOrRaise([&] { tokens->Reset(new privacy_score::Tokens()); });
  return tokens;
}

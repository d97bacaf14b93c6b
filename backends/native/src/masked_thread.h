#pragma once

#include <pthread.h>

#include "aasm/process/fd.h"
#include "aasm/schema/result.h"

namespace aasm::backend_native {

// A thread that takes no signal: those are the session's. To be joined.
schema::Result<pthread_t> start_masked_thread(void* (*run)(void*), void* argument);

// Makes an eventfd(2) readable.
void raise_event(const process::Fd& event);

}  // namespace aasm::backend_native

import { MemoryTimeoutError } from "../../store/database/errors.ts";
import type { Store } from "../../store/database/store.ts";

/** A store whose calls of the memory are made and their answers lost, until answers arrive. */
export function losingAnswers(store: Store): { readonly store: Store; arrive(): void } {
  let isLost = true;
  const memory: Store["memory"] = {
    async run(call, body) {
      const result = await store.memory.run(call, body);
      if (isLost) throw new MemoryTimeoutError("the test says so");
      return result;
    },
  };
  return {
    store: { ...store, memory },
    arrive() {
      isLost = false;
    },
  };
}

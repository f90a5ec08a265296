import { join } from "node:path";

/**
 * In the environment of a command of the checkout: what Node has compiled of it once, it takes from there, which spares
 * each process a third of a second of the processor.
 */
export const COMPILE_CACHE = {
  NODE_COMPILE_CACHE: join(import.meta.dirname, "../../node_modules/.cache/keyplane/compiled"),
} as const;

/**
 * Before a command that runs PGlite for seconds: V8 compiles its WebAssembly, and does not optimize it besides, which
 * takes half a second of the processor and pays off later.
 */
export const SHORT_LIVED = ["--liftoff-only"] as const;

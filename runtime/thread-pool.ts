/** Number of threads. Node's default is four, of which two look up names. */
const THREADS = "16";

/**
 * Makes Node use more threads for its background work, unless the environment sets their number. Half of them look up
 * names, and each waits as long as the name servers take (threats b101). Call it before anything uses such a thread.
 */
export function widenThreadPool({ env }: Pick<NodeJS.Process, "env">): void {
  env.UV_THREADPOOL_SIZE ??= THREADS;
}

/** Node's own number is four, of which two look up names. */
const THREADS = "16";

/**
 * Has Node use more threads for what it does beside its own, unless the environment says how many: half of them look up
 * names, each for as long as the servers of a name take (threats b101). To be called before anything uses one.
 */
export function widenThreadPool({ env }: Pick<NodeJS.Process, "env">): void {
  env.UV_THREADPOOL_SIZE ??= THREADS;
}

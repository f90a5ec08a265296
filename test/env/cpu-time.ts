/**
 * The processor's time that this process spends on an act, in milliseconds: what a budget of work is held against, since
 * the clock's time is the machine's load as well. A database in a process of its own is not in it.
 */
export async function cpuTimeOf(act: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await act();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** The same for the calling thread alone, and an act that ends at once. */
export function threadCpuTimeOf(act: () => unknown): number {
  const before = process.threadCpuUsage();
  act();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

/**
 * The least of up to five measures in milliseconds, the last of which is the first within the limit. In some of them
 * others' garbage is collected, or the machine's other work fills the processor's caches; a fault is in each.
 */
export async function leastOfFive(limit: number, measure: () => number | Promise<number>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 5 && least >= limit; tries++) least = Math.min(least, await measure());
  return least;
}

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

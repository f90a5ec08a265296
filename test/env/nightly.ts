/** How many examples of a property to try: ten times as many with KEYPLANE_NIGHTLY. */
export function examples(count: number): number {
  return process.env.KEYPLANE_NIGHTLY === undefined ? count : 10 * count;
}

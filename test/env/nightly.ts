/** Whether tests run at their full length. */
export const NIGHTLY = process.env.KEYPLANE_NIGHTLY !== undefined;

/** How many examples of a property to try: ten times as many at full length. */
export function examples(count: number): number {
  return NIGHTLY ? 10 * count : count;
}

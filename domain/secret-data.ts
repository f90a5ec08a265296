/**
 * The data of a Secret, by data key. What every object has, such as `constructor`, is found by no data key: each is a name
 * that a person may write.
 */
export function secretData(entries: Iterable<readonly [dataKey: string, value: string]>): Record<string, string> {
  return Object.assign(Object.create(null), Object.fromEntries(entries));
}

/**
 * Returns the data of a Secret, by data key, as an object without a prototype: a data key is a name that a person
 * chooses,
 * and must not find members that every object has, such as `constructor`.
 */
export function secretData(entries: Iterable<readonly [dataKey: string, value: string]>): Record<string, string> {
  return Object.assign(Object.create(null), Object.fromEntries(entries));
}

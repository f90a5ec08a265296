/** Fields of T without undefined values: a field that may be undefined becomes optional. */
export type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Returns the fields without those whose value is undefined. */
export function defined<T extends object>(fields: T): Defined<T> {
  // By construction the remaining fields have the type.
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
}

/** The fields without those whose value is undefined: a field that may be undefined is one that may be missing. */
export type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Leaves out the fields whose value is undefined. */
export function defined<T extends object>(fields: T): Defined<T> {
  // What is left is by its construction what the type says.
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
}

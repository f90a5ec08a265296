/** @throws Error where there is none, which is a fault of the harness */
export function existing<T>(one: T | undefined): T {
  if (one === undefined) throw new Error("there is no such part of the world");
  return one;
}

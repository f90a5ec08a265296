/** Formats a count with its noun for a sentence: `1 answer`, `1,200 answers`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;
}

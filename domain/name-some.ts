/** Returns the first of some names, and the number of the others: it bounds the length of a message. */
export function nameSome(names: readonly string[], max: number): string {
  const first = names.slice(0, max).join(", ");
  return names.length > max ? `${first} and ${names.length - max} more` : first;
}

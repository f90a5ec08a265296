/** The first of some names, and how many more there are: a message takes no text of any length. */
export function nameSome(names: readonly string[], max: number): string {
  const first = names.slice(0, max).join(", ");
  return names.length > max ? `${first} and ${names.length - max} more` : first;
}

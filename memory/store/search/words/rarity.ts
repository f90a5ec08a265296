/** Returns the weight of a word, by the share of the atoms that has it, 0 to 1. */
export function rarityOf(share: number): number {
  return Math.log(1 + 1 / (share + 0.002));
}

/** Kind of a link to the atom that the link's own atom replaces. */
export const REPLACES = "replaces";

/**
 * Maps each replaced atom to the atom at the end of its chain of replacements. Atoms that replace one another in a
 * circle are all present: none of them is replaced, and a chain that leads into the circle ends at its first.
 *
 * @param replacedBy maps each atom to the atom that replaces it, one step of a chain
 */
export function lastReplacements(replacedBy: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const inCircle = atomsInCircles(replacedBy);
  const last = new Map<string, string>();
  for (const id of replacedBy.keys()) {
    if (inCircle.has(id)) continue;
    let end = id;
    for (let by = replacedBy.get(end); by !== undefined && !inCircle.has(end); by = replacedBy.get(end)) end = by;
    last.set(id, end);
  }
  return last;
}

function atomsInCircles(replacedBy: ReadonlyMap<string, string>): ReadonlySet<string> {
  const seen = new Set<string>();
  const inCircle = new Set<string>();
  for (const start of replacedBy.keys()) {
    const walk = new Set<string>();
    let at: string | undefined = start;
    while (at !== undefined && !seen.has(at)) {
      seen.add(at);
      walk.add(at);
      at = replacedBy.get(at);
    }
    // Where the walk meets itself it has gone round.
    if (at === undefined || !walk.has(at)) continue;
    const steps = [...walk];
    for (const id of steps.slice(steps.indexOf(at))) inCircle.add(id);
  }
  return inCircle;
}

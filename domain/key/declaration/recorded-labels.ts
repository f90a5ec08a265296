/** Maximum size of the recorded labels of a declaration, in characters of their names and values. */
const MAX_RECORDED_LABELS = 4_096;

/** Returns the labels of a declaration as the store keeps them: sorted by name, and only as many as fit. */
export function recordedLabels(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  let size = 0;
  const kept = Object.entries(labels)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .filter(([name, value]) => {
      size += name.length + value.length;
      return size <= MAX_RECORDED_LABELS;
    });
  return Object.fromEntries(kept);
}

/** What is kept of the labels of a declaration. Characters of their names and values. */
const MAX_RECORDED_LABELS = 4_096;

/** The labels of a declaration as the store keeps them: by name, and no more than there is room for. */
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

/** What a run has seen go wrong, reported at once and counted at the end. */

export type Violation = {
  /** As `I5`, or another promise in a word. */
  readonly rule: string;
  /** A key by namespace and name, or by its prefix; or whatever else it is about. */
  readonly subject: string;
  readonly what: string;
};

export type Report = {
  /** Notes a move: the story behind a violation. */
  note(line: string): void;
  /** Notes a fault, or its end, and prints it at once. */
  log(line: string): void;
  /** Prints a violation; the same of the same subject is printed once. */
  violation(violation: Violation): void;
  readonly violations: readonly Violation[];
  /** Everything that was noted and printed. */
  readonly story: readonly string[];
  /** Seconds since the start. */
  seconds(): string;
};

/** How many lines of the story are printed with a violation. */
const STORY = 25;

export function createReport(seed: number, out: (line: string) => void): Report {
  const startedAt = performance.now();
  // For a reader who compares it with logs that have the time of day.
  const notes: string[] = [`0.0 ${new Date().toISOString()}`];
  const violations: Violation[] = [];
  const reported = new Set<string>();
  const seconds = () => ((performance.now() - startedAt) / 1_000).toFixed(1);
  return {
    violations,
    story: notes,
    seconds,
    note(line) {
      notes.push(`${seconds()} ${line}`);
    },
    log(line) {
      this.note(line);
      out(`${seconds()} s: ${line}`);
    },
    violation(violation) {
      const { rule, subject, what } = violation;
      const name = `${rule} ${subject} ${what.replace(/\d+/g, "#")}`;
      if (reported.has(name)) return;
      reported.add(name);
      violations.push(violation);
      const [title = ""] = subject.split(" ");
      const own = notes
        .filter((line) => line.endsWith(title) || line.includes(`${title}:`) || line.includes(`${title},`))
        .slice(-STORY);
      out(`VIOLATION of ${rule} at ${seconds()} s (seed ${seed}): ${subject}: ${what}`);
      for (const line of own) out(`  of it:  ${line}`);
      for (const line of notes.slice(-STORY)) out(`  before: ${line}`);
      this.note(`VIOLATION of ${rule}: ${subject}`);
    },
  };
}

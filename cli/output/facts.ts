import { plainText } from "./plain-text.ts";

/** Title and value of a fact: undefined to leave it out, a list for several lines. */
export type Fact = readonly [title: string, value: string | readonly string[] | undefined];

/** Formats facts below each other, with their values in one column, as `kubectl describe` does. */
export function formatFacts(facts: readonly Fact[]): string {
  const width = Math.max(0, ...facts.map(([title]) => title.length)) + 1;
  return facts
    .flatMap(([title, value]) => {
      if (value === undefined) return [];
      const [first = "<none>", ...more] = [value].flat();
      return [
        `${`${title}:`.padEnd(width)}  ${plainText(first)}`,
        ...more.map((line) => `${" ".repeat(width)}  ${plainText(line)}`),
      ];
    })
    .join("\n");
}

import { plainText } from "./plain-text.ts";

/** A title, and what is to be said of it: nothing for undefined, a line for each of several. */
export type Fact = readonly [title: string, value: string | readonly string[] | undefined];

/** Facts below each other, with their values in one column, as `kubectl describe` has them. */
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

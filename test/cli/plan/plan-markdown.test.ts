import { expect, test } from "vitest";
import { planMarkdown } from "../../../cli/plan/plan-markdown.ts";

test.each([
  [1, "1 line"],
  [2, "2 lines"],
])("a plan as a comment counts %i folded lines", (count, summary) => {
  const fault = { severity: "error", file: "f.yaml", line: 1, column: 1, path: "", message: "is no manifest" } as const;
  const refused = Array.from({ length: count }, () => fault);
  const markdown = planMarkdown({ refused, held: [], objects: [], unchanged: 0 });
  expect(markdown).toContain(`<details><summary>${summary}</summary>`);
});

test("a plan as a comment fits one, however long the lines of its faults are", () => {
  const file = `${"folder-of-manifests/".repeat(50)}keys.yaml`;
  const fault = { severity: "error", file, line: 1, column: 1, path: "", message: "is no manifest" } as const;
  const refused = Array.from({ length: 90 }, () => fault);
  const markdown = planMarkdown({ refused, held: [], objects: [], unchanged: 0 });
  expect(markdown.length).toBeLessThan(65_536);
  expect(markdown).toMatch(/^> - and \d+ more$[\s\S]*^\d+ more lines are in the output of/m);
});

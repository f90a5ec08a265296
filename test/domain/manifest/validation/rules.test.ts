import { describe, expect, test } from "vitest";
import { SCHEMAS } from "../../../../domain/kinds/generated/schemas.ts";
import type { Schema } from "../../../../domain/kinds/schema.ts";
import { errorsOf, key, storedSpec } from "../read.ts";
import { RULE_CASES } from "./rule-cases.ts";

describe.each(RULE_CASES)("$rule", ({ accepts, refuses, says, old }) => {
  const stored = old === undefined ? undefined : storedSpec(old);
  test.each(accepts)("accepts %s", (text) => expect(errorsOf(text, stored)).toEqual([]));
  test.each(refuses)("refuses %s", (text) => {
    const errors = errorsOf(text, stored);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain(says);
  });
});

test("without a stored object no transition is judged", () => {
  expect(errorsOf(key("{ preset: MCPReadOnly, secret: { dataKey: token } }"))).toEqual([]);
});

const inZone = (timeZone: string) =>
  errorsOf(key(`{ preset: MCPReadOnly, budgets: [{ tokens: 9, period: Day, timeZone: ${timeZone} }] }`));

test.each(["BST", "IST", "PST", "AST"])(
  "b504: a budget's time zone is not %s, which stands for several",
  (timeZone) => {
    expect(inZone(timeZone)).toEqual([expect.stringContaining("timeZone is none that is known: write an IANA name")]);
  },
);

test.each(["EST", "MST", "HST", "CET", "MET", "EET", "WET", "GMT", "UTC", "UCT", "PRC", "ROC", "ROK"])(
  "b504: a budget's time zone may be %s, which IANA knows",
  (timeZone) => expect(inZone(timeZone)).toEqual([]),
);

test("every rule of the schemas is in the table above, or needs a status that no manifest has", () => {
  const said = new Set<string>();
  for (const { refuses, old } of RULE_CASES) {
    for (const text of refuses)
      for (const error of errorsOf(text, old === undefined ? undefined : storedSpec(old))) said.add(error);
  }
  const untested = Object.values(SCHEMAS)
    .flatMap(messagesOf)
    .filter((message) => ![...said].some((error) => error.includes(message)));
  expect(untested).toEqual([expect.stringContaining("write the one in status.publicID")]);
});

function messagesOf(node: Schema): string[] {
  return [
    ...(node["x-kubernetes-validations"] ?? []).map(({ message }) => message),
    ...Object.values(node.properties ?? {}).flatMap(messagesOf),
    ...(node.items ? messagesOf(node.items) : []),
  ];
}

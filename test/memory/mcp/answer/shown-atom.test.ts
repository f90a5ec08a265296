import { expect, test } from "vitest";
import { costOf, fittingAtoms, shortenAtom } from "../../../../memory/mcp/answer/shown-atom.ts";

test.each([
  ["English", "x"],
  ["Chinese", "密"],
])("an atom of %s that takes just as many tokens as there are is whole, and with one less it is cut", (_what, text) => {
  const atom = { id: "one", content: text.repeat(4_000) };
  const tokens = costOf(atom);
  expect(shortenAtom(atom, tokens)).toBe(atom);
  expect(fittingAtoms([atom], tokens)).toEqual([atom]);
  for (const cut of [shortenAtom(atom, tokens - 1), ...fittingAtoms([atom], tokens - 1)]) {
    expect(cut).toMatchObject({ truncated: true });
    expect(costOf(cut)).toBeLessThanOrEqual(tokens - 1);
  }
});

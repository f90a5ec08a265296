import fc from "fast-check";
import { expect, test } from "vitest";
import { recalled, recalledText } from "../../../../memory/mcp/answer/recalled.ts";
import { type ShownAtom, shownAtom } from "../../../../memory/mcp/answer/shown-atom.ts";
import { pageText, shownPage } from "../../../../memory/mcp/answer/shown-page.ts";
import { MAX_TOKENS } from "../../../../memory/mcp/definition/budget.ts";
import { estimateTokens } from "../../../../memory/rules/token-estimate.ts";
import type { Atom } from "../../../../memory/store/rows/atom.ts";
import { NIGHTLY } from "../../../env/nightly.ts";

/** Texts that are long in one form or the other: quotes and control characters as JSON, Chinese as tokens. */
const piece = fc.constantFrom("a word ", '"', "\u0001", "密", "🙂", "\n", "é", "\\");
const text = (most: number) =>
  fc.tuple(piece, fc.integer({ min: 1, max: most }), piece).map(([first, times, last]) => first.repeat(times) + last);
const time = fc.constant("2026-11-20T00:00:00.000Z");

const atom: fc.Arbitrary<ShownAtom> = fc
  .record({
    id: fc.uuid(),
    library: text(100),
    content: text(6_000),
    tags: fc.array(text(60), { maxLength: 32 }),
    source: fc.option(text(500)),
    importance: fc.integer({ min: 0, max: 10 }),
    metadata: fc.dictionary(text(10), text(80), { maxKeys: 8 }),
    links: fc.array(fc.record({ rel: text(60), id: fc.uuid() }), { maxLength: 32 }),
    expiresAt: fc.option(time),
    created: time,
    updated: time,
    revision: fc.integer({ min: 1, max: 2_000_000_000 }),
  })
  .map(shownAtom);

/** A note on what was clipped takes its room from the rest. */
const LEAST = MAX_TOKENS.minimum - 25;
const asked = fc.record({
  atoms: fc.array(atom, { minLength: 1, maxLength: 8 }),
  ids: fc.array(fc.uuid(), { maxLength: 92 }),
  missing: fc.array(text(60), { maxLength: 20 }),
  notes: fc.array(text(300), { maxLength: 1 }),
  semantic: fc.boolean(),
  isBriefing: fc.boolean(),
  maxTokens: fc.integer({ min: LEAST, max: MAX_TOKENS.maximum / 4 }),
});

function expectWithin(structured: unknown, written: string, maxTokens: number): void {
  expect(estimateTokens(written)).toBeLessThanOrEqual(maxTokens);
  expect(estimateTokens(JSON.stringify(structured))).toBeLessThanOrEqual(maxTokens);
}

test("whatever is found, a page has the first of it and no more than its tokens", () => {
  fc.assert(
    fc.property(asked, ({ atoms, semantic, maxTokens, notes }) => {
      const page = shownPage(
        { items: atoms, isMore: true },
        {
          ...{ maxTokens, semantic, notes, show: (each: ShownAtom) => each },
          scope: { list: "search", reach: { teamId: "team-a" }, library: null, filter: null },
          positionOf: ({ id = "" }) => ({ at: 9_999_999_999_999, id, importance: 1 / 3 }),
        },
      );
      expectWithin(page, pageText(page), maxTokens);
      expect(page.items?.[0]?.id).toBe(atoms[0]?.id);
      expect(page.items?.[0]?.content).not.toBe("");
      expect(page.nextCursor).toBeTruthy();
    }),
    { numRuns: NIGHTLY ? 3_000 : 80 },
  );
});

test("whatever is recalled, an answer has the first of it and no more than its tokens, and accounts for the rest", () => {
  fc.assert(
    fc.property(asked, ({ atoms, ids, missing, notes, ...more }) => {
      const byId = new Map(atoms.map((each) => [each.id, each]));
      // What a tool does not look at is left out.
      const found = [...byId.keys()].map((id) => ({ id })) as unknown as Atom[];
      const show = ({ id }: Atom): ShownAtom => byId.get(id) ?? {};
      const answer = recalled({ ...more, atoms: found, cut: ids, missing, notes, show });
      expectWithin(answer, recalledText(answer), more.maxTokens);
      const { items = [], omitted = [], missing: shown = [], note = "" } = answer;
      expect(items[0]?.id).toBe(found[0]?.id);
      const hidden = Number(/(\d+) more ids have no room here/.exec(note)?.[1] ?? 0);
      expect(items.length + omitted.length + shown.length + hidden).toBe(found.length + ids.length + missing.length);
    }),
    { numRuns: NIGHTLY ? 3_000 : 80 },
  );
});

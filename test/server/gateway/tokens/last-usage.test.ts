import fc from "fast-check";
import { expect, test } from "vitest";
import { DIALECTS } from "../../../../domain/access/key-record.ts";
import { noFigures, noteUsage } from "../../../../domain/usage/reported-figures.ts";
import { LastUsage } from "../../../../server/gateway/tokens/last-usage.ts";

function isSaid(before: string, next: string): boolean {
  const last = new LastUsage();
  const [kept, bytes] = [Buffer.from(before), Buffer.from(`#${next}#`)];
  last.set(kept, 0, kept.length);
  return last.isSaidBy(bytes, 1, bytes.length - 1);
}

test.each([
  ['{"a":5,"b":0}', '{"a":17,"b":0}', true],
  ['{"a":5,"b":0}', '{"a":17,"b":3}', true],
  ['{"a": 5}', '{"a": 9}', true],
  ['{"a":{"b":[5]},"c":"x 5"}', '{"a":{"b":[5]},"c":"x 7"}', true],
  ['{"a":5}', '{"a":0}', false],
  ['{"a":5}', '{"a":00}', false],
  ['{"a":5}', '{"a":1234567890}', false],
  ['{"a":5}', '{"a":null}', false],
  ['{"a":5}', '{"a":-5}', false],
  ['{"a":5}', '{"a":5.5}', false],
  ['{"a":5,"b":6}', '{"a":5}', false],
  ['{"a":5}', '{"a":5,"b":6}', false],
  ['{"ephemeral_5m":5}', '{"ephemeral_1h":5}', false],
  ['{"a":5}', "", false],
])("b302: whether %s is said by %s: %s", (before, next, is) => {
  expect(isSaid(before, next)).toBe(is);
});

test("b302: a usage that is left out for the next would have left nothing", () => {
  const figure = fc.constantFrom(1, 12, 1_050, 0);
  const usage = fc.record({
    ...{ prompt_tokens: figure, completion_tokens: figure, total_tokens: fc.constantFrom(1_100, null) },
    ...{ input_tokens: figure, promptTokenCount: figure },
    prompt_tokens_details: fc.record({ cached_tokens: figure }),
    iterations: fc.tuple(fc.record({ input_tokens: figure }), fc.record({ input_tokens: figure })),
  });
  fc.assert(
    fc.property(usage, usage, fc.constantFrom(...DIALECTS), (before, next, dialect) => {
      fc.pre(isSaid(JSON.stringify(before), JSON.stringify(next)));
      const [both, one] = [noFigures(), noFigures()];
      for (const each of [before, next]) noteUsage(both, dialect, each);
      noteUsage(one, dialect, next);
      expect(one).toEqual(both);
    }),
    { numRuns: 200 },
  );
});

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
  ['{"a":5,"cost":0.00021}', '{"a":6,"cost":0.01}', true],
  ['{"a":5,"cost":0.5}', '{"a":6,"cost":12.25}', true],
  ['{"cost":1.1e-05}', '{"cost":2.25e-05}', true],
  ['{"cost":2e-06}', '{"cost":2e-06}', true],
  ['{"a":2.0}', '{"a":3.00}', true],
  ['{"a":2.0}', '{"a":2.5}', false],
  ['{"a":2.5}', '{"a":2.0}', false],
  ['{"a":2.5}', '{"a":2}', false],
  ['{"a":20.0e-1}', '{"a":25.0e-1}', false],
  ['{"a":1.5e3}', '{"a":2.0005e3}', false],
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
    cached_tokens: fc.constantFrom(0.5, 12.25),
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

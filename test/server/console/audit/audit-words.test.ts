import { expect, test } from "vitest";
import { auditDetail } from "../../../../server/console/audit/audit-words.ts";

const upstreams = (...names: readonly string[]) => names.map((name) => ({ name }));
const shown = (before: unknown, after: unknown) =>
  String(auditDetail({ detail: { changed: { upstreams: { before, after } } } }, new Map()));

test("of a list that has grown or shrunk at its end, what has come or gone is shown", () => {
  expect(shown(upstreams("a", "b"), upstreams("a", "b", "c"))).toContain(
    '<dd><ins>name: c</ins> <span class="muted">beside 2 that stay</span></dd>',
  );
  expect(shown(upstreams("a", "b"), upstreams("a"))).toContain(
    '<dd><del>name: b</del> <span class="muted">beside 1 that stays</span></dd>',
  );
});

test("b276: of a list whose order has changed, or that begins with another record, the order is shown: the first upstream takes calls without a route", () => {
  expect(shown(upstreams("a", "b"), upstreams("b", "a", "c"))).toContain("<del>name: a;\nname: b</del>");
  expect(shown(upstreams("a", "b"), upstreams("b", "a", "c"))).toContain("<ins>name: b;\nname: a;\nname: c</ins>");
  expect(shown(upstreams("a"), upstreams("c", "a"))).toContain(
    '<ins>name: c</ins> <span class="muted">beside 1 that stays; all in their order now:</span> name: c;\nname: a',
  );
});

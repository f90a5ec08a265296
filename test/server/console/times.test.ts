import { expect, test } from "vitest";
import { eventList } from "../../../server/console/keys/page/key-event-list.ts";
import { withMoments } from "../../../server/console/times.ts";

const NOW = Date.parse("2026-11-26T12:00:00Z");

test("the moments of a sentence are shown as moments", () => {
  const shown = String(
    withMoments("last used 2 h ago, at 2026-11-26T10:00:00Z, and until 2026-11-27T00:00:00.000Z", NOW),
  );
  expect(shown).toMatch(/^last used 2 h ago, at <time datetime="2026-11-26T10:00:00Z" .*, and until <time /);
});

test.each(["2026-99-99T99:99:99.9Z", "2026-11-26T10:00:00Z"])(
  "b275: the URL of a reported leak, whose path is its reporter's to choose, is shown as it is: %s",
  (name) => {
    const url = `https://github.com/o/r/blob/main/${name}`;
    const detail = { version: 1, reporter: "github", url };
    const events = [{ id: 1, at: NOW, kind: "key.leaked", actor: "github", detail }];
    expect(String(eventList(events, NOW))).toContain(`, by GitHub: ${url}</span>`);
  },
);

test("b275: a sentence whose moment is none is shown as it is", () => {
  expect(String(withMoments("at 2026-99-99T99:99:99.9Z", NOW))).toBe("at 2026-99-99T99:99:99.9Z");
});

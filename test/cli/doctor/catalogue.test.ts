import { expect, test } from "vitest";
import { FINDING_NAMES } from "../../../cli/doctor/finding.ts";
import { filesBelow, read } from "../../architecture/sources.ts";

test("doctor's findings are all on its page, and the page names no others", () => {
  const page = read("docs/operations/doctor.md");
  const named = [...page.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, name]) => name);
  expect(named.toSorted()).toEqual(FINDING_NAMES.toSorted());
});

test("doctor's findings are each stated somewhere", () => {
  const sources = filesBelow("cli/doctor", ".ts")
    .filter((file) => !file.endsWith("/finding.ts"))
    .map(read)
    .join("\n");
  expect(FINDING_NAMES.filter((name) => !sources.includes(`"${name}"`))).toEqual([]);
});

/** docs/guides/refused-calls.md, where it shows no call of its own: the guides' test runs those that it shows. */
import { describe, expect, it } from "vitest";
import { PROBLEMS } from "../../server/http/problems/catalogue.ts";
import { filesBelow, read } from "./sources.ts";

const PAGE = read("docs/guides/refused-calls.md");
const STATUSES: readonly number[] = [401, 403, 404, 429, 502, 503, 504, 507];

/** What stands in the first column of the tables that have this heading. */
function firstColumn(heading: string): string[] {
  const tables = PAGE.split("\n\n").filter((part) => part.startsWith(`| ${heading} |`));
  return tables.flatMap((table) => [...table.matchAll(/^\| (`.+?) \|/gm)].map(([, cell = ""]) => cell));
}
const codesIn = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);

describe("docs/guides/refused-calls.md", () => {
  it("has each code of the catalogue that these statuses have", () => {
    const codes = Object.entries(PROBLEMS).filter(([, { status }]) => STATUSES.includes(status));
    const shown = firstColumn("message").join() + PAGE;
    const missing = codes.filter(([code, { detail }]) => !shown.includes(`"${code}"`) && !shown.includes(detail));
    expect(missing.map(([code]) => code)).toEqual([]);
  });

  it("shows messages that a test has of a server, word for word", () => {
    const tests = ["test/server", "test/memory"].flatMap((folder) => filesBelow(folder, ".test.ts")).map(read);
    const messages = firstColumn("message").flatMap(codesIn);
    expect(messages.length).toBeGreaterThan(15);
    expect(messages.filter((message) => !tests.some((text) => text.includes(`"${message}"`)))).toEqual([]);
  });

  it("has each reason for which the audit log says that a key is not accepted", () => {
    const unions = read("domain/access/key-state.ts").match(/type (?:CredentialCause|RefusalCause) =[^;]+;/g) ?? [];
    const reasons = [...unions.join().matchAll(/"(\w+)"/g)].map(([, reason = ""]) => reason);
    expect(firstColumn("reason").flatMap(codesIn).toSorted()).toEqual(reasons.toSorted());
  });
});

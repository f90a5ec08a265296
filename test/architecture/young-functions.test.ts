/**
 * V8 makes a function in the old space where it stands in an assignment to a property. What a call makes there keeps the
 * dead call, with all that it refers to, until the whole heap is collected: a function is handed over as an argument.
 */
import { expect, it } from "vitest";
import { filesBelow, read } from "./sources.ts";

const ASSIGNED = /^\s*[\w.?]+\.#?\w+ (?:\?\?)?= (?:async )?(?:\([^()]*\)(?:: [\w<>[\] |]+)? =>|\w+ =>|function\b).*$/gm;

/** Files that make one for each connection, and not for each call. */
const OF_CONNECTIONS = [
  "server/gateway/upstream/continue-answers.ts",
  "server/http/connections/pipelining-limit.ts",
  "server/http/connections/refused-request.ts",
  "server/http/connections/stop-parsing.ts",
];

function assignedIn(text: string): string[] {
  return [...text.matchAll(ASSIGNED)].map(([line]) => line.trim());
}

it("no function of a call stands in an assignment to a property", () => {
  const files = ["server", "memory", "processes"]
    .flatMap((folder) => filesBelow(folder, ".ts"))
    .filter((file) => assignedIn(read(file)).length > 0);
  expect(files).toEqual(OF_CONNECTIONS);
});

it("finds such an assignment, and no other", () => {
  const assigned = ["call.onCut = (cause) => cut(cause);", "this.#end = (): void => {", "a.b ??= async (x) => x;"];
  expect(assigned.flatMap(assignedIn)).toEqual(assigned);
  const others = ["const end = () => cut();", "call.onCut = ignore;", "call.takeOver((cause) => cut(cause));"];
  expect(others.flatMap(assignedIn)).toEqual([]);
});

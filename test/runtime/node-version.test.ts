import { expect, test, vi } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { assertNodeVersion, isOlder, OLDEST_NODE } from "../../runtime/node-version.ts";

test("the oldest Node is the one that package.json asks for", () => {
  expect(`>=${OLDEST_NODE}`).toBe(`${packageJson.engines.node}.0`);
});

test.each([
  ["22.19.0", false],
  ["22.18.9", true],
  ["20.20.2", true],
  ["23.0.0", false],
  ["100.0.0", false],
  ["9.99.99", true],
])("Node %s is older than 22.19.0: %s", (version, expected) => {
  expect(isOlder(version, "22.19.0")).toBe(expected);
});

test("an older Node gets one line that says what is needed, and ends with exit code 2", () => {
  const written = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const exit = vi.spyOn(process, "exit").mockImplementation((code) => {
    throw new Error(`exit ${code}`);
  });
  expect(() => assertNodeVersion("keyplane", "20.20.2")).toThrow("exit 2");
  expect(written.mock.calls).toEqual([
    [expect.stringMatching(/^keyplane: Node\.js 22\.19\.0 or later is needed, and this is 20\.20\.2[^\n]*\n$/)],
  ]);
  assertNodeVersion("keyplane", OLDEST_NODE);
  written.mockRestore();
  exit.mockRestore();
});

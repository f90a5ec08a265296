import { describe, expect, test } from "vitest";
import { createPrinter, type Format } from "../../../cli/get/print-objects.ts";
import type { ListedObject } from "../../../cli/source/source.ts";

const NOW = Date.parse("2026-11-21T12:00:00Z");

const printer = (format: Format, isColoured = false, hasHeadings = true) =>
  createPrinter(format, { isColoured, hasHeadings, now: () => NOW });

function key(name: string, status: "True" | "False" = "True"): ListedObject<"PlatformKey"> {
  const conditions = [{ type: "Ready", status, reason: "Ready", message: "m", lastTransitionTime: "" }];
  const metadata = { namespace: "dev", name, creationTimestamp: "2026-11-21T11:59:00Z" };
  return { kind: "PlatformKey", metadata, status: { conditions }, json: { name } };
}

function library(name: string): ListedObject<"MemoryLibrary"> {
  return {
    kind: "MemoryLibrary",
    metadata: { namespace: "dev", name },
    spec: { displayName: "\u001b[31mred" },
    json: {},
  };
}

describe("what is printed of objects", () => {
  test("is a table for each kind that there is any of", () => {
    const shown = [
      { kind: "PlatformKey", objects: [key("agent")] },
      { kind: "ModelGateway", objects: [] },
      { kind: "MemoryLibrary", objects: [library("handbook")] },
    ] as const;
    expect(printer("table").all(shown, false)).toBe(
      [
        "NAMESPACE   NAME    READY   REASON   PREFIX   TEAM   SCOPES   SECRET   EXPIRES   LAST USED   AGE",
        "dev         agent   True    Ready    -        -      -        -        never     -           60s",
        "",
        "NAMESPACE   NAME       READY       REASON   DISPLAY NAME   TEAM   ON DELETE   AGE",
        "dev         handbook   <unknown>   -        ?[31mred       -      -           <unknown>",
      ].join("\n"),
    );
    expect(printer("name").all(shown, false)).toBe(
      "platformkey.keyplane.dev/agent\nmemorylibrary.keyplane.dev/handbook",
    );
  });

  test.each([
    ["False", "Confirming", "-"],
    ["False", "Revoked", "-"],
    ["True", "Revoked", "-"],
    ["True", "Ready", "never"],
  ] as const)("shows of a key that is %s by %s, and has no end, that it expires: %s", (status, reason, shown) => {
    const conditions = [{ type: "Ready", status, reason, message: "m", lastTransitionTime: "" }];
    const one = { ...key("agent"), status: { conditions } };
    const [headings = "", row = ""] = printer("table")
      .all([{ kind: "PlatformKey", objects: [one] }], false)
      .split("\n");
    expect(row.slice(headings.indexOf("EXPIRES"), headings.indexOf("LAST USED")).trim()).toBe(shown);
  });

  test("shows in a wide table how far the budget is used that is used the most", () => {
    const exhausted = { type: "BudgetExhausted", status: "True", reason: "BudgetExhausted", message: "m" } as const;
    const agent = key("agent");
    const conditions = [...(agent.status?.conditions ?? []), { ...exhausted, lastTransitionTime: "" }];
    const budgeted = { ...agent, status: { ...agent.status, conditions } };
    const [headings = "", used = "", none = ""] = printer("wide")
      .all([{ kind: "PlatformKey", objects: [budgeted, key("free")] }], false)
      .split("\n");
    const cell = (row: string) => row.slice(headings.indexOf("BUDGET"), headings.indexOf("MESSAGE")).trim();
    expect([cell(used), cell(none)]).toEqual(["BudgetExhausted", "-"]);
  });

  test("shows in a wide table whom to ask about a key", () => {
    const owned = { ...key("agent"), spec: { owner: "ann@example.com" } };
    const [headings = "", ...rows] = printer("wide")
      .all([{ kind: "PlatformKey", objects: [owned, key("free")] }], false)
      .split("\n");
    const cells = rows.map((row) => row.slice(headings.indexOf("OWNER")).split(/\s+/, 1)[0]);
    expect(cells).toEqual(["ann@example.com", "-"]);
  });

  test("goes on in the same columns as things change, with headings where another kind comes", () => {
    const { all, change } = printer("table");
    const [headings = "", row = ""] = all([{ kind: "PlatformKey", objects: [key("long-name")] }], false).split("\n");
    const changed = change(key("agent", "False"));
    expect(changed.indexOf("False")).toBe(headings.indexOf("READY"));
    expect(row.indexOf("True")).toBe(headings.indexOf("READY"));
    expect(change(library("handbook"))).toMatch(/^NAMESPACE .*\ndev +handbook /);
    expect(change(library("notes"))).toMatch(/^dev +notes /);
    expect(change(key("agent"))).toMatch(/^NAMESPACE .*\ndev +agent /);
  });

  test("is rows alone without headings, and nothing where there are none", () => {
    const bare = printer("table", false, false);
    const shown = [
      { kind: "PlatformKey", objects: [key("agent")] },
      { kind: "MemoryLibrary", objects: [library("handbook")] },
    ] as const;
    expect(bare.all(shown, false)).toMatch(/^dev +agent .*\ndev +handbook .*$/);
    expect(bare.change(key("other"))).toMatch(/^dev +other /);
    expect(bare.all([], false)).toBe("");
    expect(printer("name").all([], false)).toBe("");
    expect(printer("table").all([], false)).toBe("there are none");
  });

  test("has colours in READY where they are seen, which take no room, and none for programs", () => {
    const plain = printer("table").all([{ kind: "PlatformKey", objects: [key("a"), key("b", "False")] }], false);
    const shown = [{ kind: "PlatformKey", objects: [key("a"), key("b", "False")] }] as const;
    const painted = printer("table", true).all(shown, false);
    expect(painted).toContain("\u001b[32mTrue\u001b[39m    Ready");
    expect(painted).toContain("\u001b[31mFalse\u001b[39m   Ready");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it is these that a terminal does not show
    expect(painted.replace(/\u001b\[\d+m/g, "")).toBe(plain);
    for (const format of ["json", "yaml", "name"] as const) {
      expect(printer(format, true).all(shown, false)).toBe(printer(format).all(shown, false));
    }
  });
});

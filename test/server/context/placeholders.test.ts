import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { keyDigest, mintKey } from "../../../domain/key/secret/key-format.ts";
import { parsePlaceholders } from "../../../server/context/placeholders.ts";

const MINTED = mintKey(randomBytes);

describe("PLATFORM_API_KEYS", () => {
  test("has keys apart by commas, each with its team behind an @ where there are several teams", () => {
    const { placeholders, faults } = parsePlaceholders(` inf_local , inf_other@research,, ${MINTED}`);
    expect(faults).toEqual([]);
    expect(placeholders).toEqual([
      { digest: keyDigest("inf_local"), team: null },
      { digest: keyDigest("inf_other"), team: "research" },
      { digest: keyDigest(MINTED), team: null },
    ]);
  });

  test.each(["local", "inf_local@", `${MINTED.slice(0, -1)}${MINTED.endsWith("a") ? "b" : "a"}`])(
    "names what is at fault by its place, and never its text: %j",
    (entry) => {
      const { placeholders, faults } = parsePlaceholders(`inf_local,${entry}`);
      expect(placeholders).toHaveLength(1);
      expect(faults).toEqual([expect.stringContaining("entry 2: must be a key that begins with inf_")]);
      expect(faults[0]).not.toContain(entry);
    },
  );

  test("may be empty", () => expect(parsePlaceholders(" ")).toEqual({ placeholders: [], faults: [] }));
});

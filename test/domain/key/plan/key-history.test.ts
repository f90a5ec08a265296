import { expect, test } from "vitest";
import { policyChange } from "../../../../domain/key/plan/key-history.ts";
import { DAY, NOW } from "../../rule-table.ts";
import { KEY, storedKey, version, versions } from "../situations.ts";

test("a change says that the life is another one only where the active version's end moves", () => {
  const key = storedKey({ ...KEY, versions: versions(version(1, { expiresAt: NOW })) });
  const change = { policy: { ...KEY.policy, displayName: "new" }, expiresAfter: DAY };
  const keptEnds = [{ number: 1, expiresAt: NOW }];
  expect(policyChange(key, { ...change, keptEnds })).toBe("Changed, with the same secret: displayName.");
  expect(policyChange(key, change)).toBe("Changed, with the same secret: displayName, expiresAfter.");
});

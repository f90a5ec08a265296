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

test("a list in another order is no change of which anyone hears", () => {
  const policy = { ...KEY.policy, allowedCIDRs: ["10.0.0.0/8", "192.0.2.0/24"], allowedModels: ["b", "a"] };
  const key = storedKey({ ...KEY, policy });
  const reordered = { ...policy, allowedCIDRs: ["192.0.2.0/24", "10.0.0.0/8"], allowedModels: ["a", "b"] };
  expect(policyChange(key, { policy: reordered, expiresAfter: null })).toBe("");
  const other = { ...reordered, allowedCIDRs: ["192.0.2.0/24"], suspended: true };
  expect(policyChange(key, { policy: other, expiresAfter: null })).toBe(
    "The key is suspended, and refused. Changed, with the same secret: allowedCIDRs.",
  );
});

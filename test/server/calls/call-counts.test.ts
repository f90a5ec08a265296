import { expect, test } from "vitest";
import { CallCounts } from "../../../server/calls/call-counts.ts";
import { keyRecord } from "../harness.ts";

test("b84: the count of a key's calls is the list's own, whether few are open or many", () => {
  const calls: { record: ReturnType<typeof keyRecord> }[] = [];
  const counted = new CallCounts(calls, ({ record }) => record.keyId);
  const keys = ["key_a", "key_b", "key_c"];
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  // Grows beyond what is counted for each key, and shrinks below it again, twice.
  for (let step = 0; step < 2_400; step++) {
    const grows = Math.floor(step / 600) % 2 === 0;
    if (calls.length === 0 || random(10) < (grows ? 7 : 3)) {
      const call = { record: keyRecord({ keyId: keys[random(keys.length)] ?? "" }) };
      calls.push(call);
      counted.add(call);
    } else {
      const [call] = calls.slice(random(calls.length));
      if (call === undefined) continue;
      counted.remove(call);
      calls.splice(calls.indexOf(call), 1);
    }
    for (const key of keys) {
      expect(counted.countOf(key)).toBe(calls.filter(({ record }) => record.keyId === key).length);
    }
  }
});

import { expect, test } from "vitest";
import { isLater } from "../../../../controller/cluster/kubernetes/watch/resource-version.ts";

test.each([
  ["1000", "999", true],
  ["999", "1000", false],
  ["18446744073709551615", "9223372036854775807", true],
  ["7", "7", false],
  ["opaque", "7", true],
])(
  "a resource version is a whole number, however many digits it has: %s is later than %s: %s",
  (version, than, later) => {
    expect(isLater(version, than)).toBe(later);
  },
);

import { expect, test } from "vitest";
import { judgeFreeSpace } from "../../../cli/doctor/free-space.ts";

const MIB = 1_048_576;

test("c62: doctor of a data folder finds a disk that is full, and says what to do", () => {
  expect(judgeFreeSpace("DATA", 3.5 * MIB)).toEqual({
    ...{ name: "storage", severity: "error" },
    message: "3 MiB are left on the disk of DATA: keyplane up needs 32",
    action: "make room there, then start keyplane up again",
  });
  expect(judgeFreeSpace("DATA", 32 * MIB)).toMatchObject({ severity: "ok" });
});
